//! Messages to a run that is under way: recorded, and answered by the agent's own tool if it belongs to a service.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use roost_model::ids::RunId;
use roost_model::run::{AgentEvent, RunSummary};
use serde_json::{Value, json};

use super::agent_calls::{AgentCalls, find_tool, fitting_arguments, reply_text};
use super::agent_descriptor::{AgentDescriptor, ChatMode};
use super::{Runs, RunsError};
use crate::services::Services;

/// The tools that answer a message unless the manifest names another.
const HANDLERS: [&str; 2] = ["fn__receive_chat", "receive_chat"];

/// Who says something in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRole {
    /// A person, whom the agent answers.
    User,
    /// The agent itself.
    Assistant,
    /// Somebody who looks after both.
    System,
}

impl MessageRole {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

/// Passes messages to runs, one after the other for each run.
pub struct RunMessages {
    services: Arc<Services>,
    runs: Arc<Runs>,
    calls: AgentCalls,
    /// Who talks to a run at the moment; others wait their turn.
    turns: Mutex<HashMap<RunId, Arc<tokio::sync::Mutex<()>>>>,
}

impl RunMessages {
    /// Messages to the agents of these services.
    pub fn new(services: Arc<Services>, runs: Arc<Runs>, calls: AgentCalls) -> Self {
        Self { services, runs, calls, turns: Mutex::default() }
    }

    /// Records a message, and returns what the agent answers; `None` if nobody answers here. An agent that fails is told
    /// of by a message of the system, which is returned as the error.
    pub async fn send(&self, run: &RunId, role: MessageRole, message: &str) -> Result<Option<String>, RunsError> {
        let turn = self.turns.lock().entry(run.clone()).or_default().clone();
        let sent = {
            let _one_at_a_time = turn.lock().await;
            self.send_in_turn(run, role, message).await
        };
        drop(turn);
        self.turns.lock().retain(|_, turn| Arc::strong_count(turn) > 1);
        sent
    }

    async fn send_in_turn(&self, run: &RunId, role: MessageRole, message: &str) -> Result<Option<String>, RunsError> {
        let summary = self.runs.reported(run).await?.ok_or_else(|| RunsError::Unknown(run.clone()))?;
        if summary.status.is_terminal() {
            return Err(RunsError::Over(run.clone()));
        }
        self.record(&summary, role, message).await?;
        if role != MessageRole::User {
            return Ok(None);
        }
        match self.answer(&summary, message).await {
            Ok(None) => Ok(None),
            Ok(Some(answer)) => {
                self.record(&summary, MessageRole::Assistant, &answer).await?;
                Ok(Some(answer))
            }
            Err(why) => {
                let why = format!("the agent did not answer: {why}");
                self.record(&summary, MessageRole::System, &why).await?;
                Err(RunsError::NoAnswer { run: run.clone(), why })
            }
        }
    }

    /// What the agent of a run answers; `None` if it belongs to no service that does.
    async fn answer(&self, run: &RunSummary, message: &str) -> Result<Option<String>, String> {
        let Some(service) = &run.service_id else { return Ok(None) };
        let view = self.services.get(service).map_err(|error| error.to_string())?;
        let Some(agent) = AgentDescriptor::from_manifest(&view.stored.manifest) else { return Ok(None) };
        match agent.chat.mode {
            ChatMode::Disabled => return Ok(None),
            ChatMode::Echo => return Ok(Some(format!("Echo: {message}"))),
            ChatMode::Auto => {}
        }
        let named: Vec<_> = agent.chat.handler_tool.as_deref().into_iter().collect();
        let names = if named.is_empty() { &HANDLERS[..] } else { &named };
        let Some(offered) = &view.offered else { return Err("its service does not run".into()) };
        let Some((tool, schema)) = find_tool(offered, names) else {
            return if named.is_empty() { Ok(None) } else { Err(format!("its service offers no tool {}", named[0])) };
        };
        if !agent.has_trigger("api") {
            return Err("it takes no messages: its manifest does not name the trigger \"api\"".into());
        }
        let known = [("message", json!(message)), ("runId", json!(run.run_id)), ("role", json!("user"))];
        let result = self.calls.call(offered, &tool, &fitting_arguments(&tool, &schema, &known), &run.run_id).await?;
        Ok(reply_text(&result))
    }

    async fn record(&self, run: &RunSummary, role: MessageRole, message: &str) -> Result<(), RunsError> {
        let mut document: Value = json!({
            "kind": format!("agent.chat.{}_message", role.name()),
            "run_id": run.run_id,
            "message": message,
            "data": { "role": role.name(), "content": message },
        });
        if let Some(service) = &run.service_id {
            document["service_id"] = json!(service);
        }
        if let Some(agent) = &run.agent {
            document["agent"] = json!(agent);
        }
        let event = AgentEvent::parse(&document).map_err(|error| RunsError::NotRecorded(error.to_string()))?;
        self.runs.report(vec![event]).await
    }
}
