//! What a manifest says of its agent, as far as the gateway acts on it.

use std::time::Duration;

use roost_model::service::manifest::{Manifest, ServiceType};
use serde::Deserialize;
use serde_json::Value;

use super::schedule::parse_period;

/// The agent of a service.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentDescriptor {
    pub(super) agent_id: String,
    #[serde(default)]
    triggers: Vec<String>,
    #[serde(default)]
    timer: Option<Timer>,
    #[serde(default)]
    pub(super) chat: Chat,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timer {
    schedules: Vec<DeclaredSchedule>,
    #[serde(default)]
    serial: Option<bool>,
    #[serde(default)]
    handler_tool: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeclaredSchedule {
    schedule_id: String,
    schedule_expr: String,
    #[serde(default)]
    enabled: Option<bool>,
}

/// How messages to the agent are answered.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Chat {
    pub(super) mode: ChatMode,
    pub(super) handler_tool: Option<String>,
}

/// Who answers messages to the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChatMode {
    /// A tool of its service.
    #[default]
    Auto,
    /// The gateway, with the message itself.
    Echo,
    /// Nobody; messages are recorded only.
    Disabled,
}

/// The timer of an agent.
#[derive(Clone, Debug)]
pub(super) struct AgentTimer {
    pub(super) schedules: Vec<Schedule>,
    /// Whether one run must end before the next begins.
    pub(super) serial: bool,
    pub(super) handler_tool: Option<String>,
}

/// One schedule of a timer.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    pub(super) id: String,
    pub(super) expression: String,
    pub(super) period: Duration,
}

impl AgentDescriptor {
    /// The agent that a manifest declares; `None` if it declares none.
    pub(super) fn from_manifest(manifest: &Manifest) -> Option<Self> {
        let metadata = &manifest.metadata;
        let agent = metadata.agent.clone().filter(|_| metadata.service_type == ServiceType::Agent)?;
        serde_json::from_value(Value::Object(agent)).ok()
    }

    /// Whether the manifest says that this may begin work of the agent.
    pub(super) fn has_trigger(&self, name: &str) -> bool {
        self.triggers.iter().any(|trigger| trigger == name)
    }

    /// The timer, if the agent has the trigger and a schedule for it.
    pub(super) fn timer(&self) -> Option<AgentTimer> {
        let timer = self.timer.as_ref().filter(|_| self.has_trigger("timer"))?;
        let enabled = timer.schedules.iter().filter(|schedule| schedule.enabled != Some(false));
        let schedules: Vec<_> = enabled
            .filter_map(|DeclaredSchedule { schedule_id, schedule_expr, .. }| {
                let period = parse_period(schedule_expr).ok()?;
                Some(Schedule { id: schedule_id.clone(), expression: schedule_expr.clone(), period })
            })
            .collect();
        let (serial, handler_tool) = (timer.serial.unwrap_or(true), timer.handler_tool.clone());
        (!schedules.is_empty()).then_some(AgentTimer { schedules, serial, handler_tool })
    }
}

/// What is wrong with the schedules of a manifest, with the place as a JSON pointer; `None` if nothing is.
pub(crate) fn wrong_schedule(manifest: &Manifest) -> Option<(String, String)> {
    let timer = AgentDescriptor::from_manifest(manifest)?.timer?;
    let place = |at: usize, member: &str| format!("/metadata/agent/timer/schedules/{at}/{member}");
    timer.schedules.iter().enumerate().find_map(|(at, schedule)| {
        let is_twin = timer.schedules[..at].iter().any(|other| other.schedule_id == schedule.schedule_id);
        if is_twin {
            return Some((place(at, "scheduleId"), format!("\"{}\" names two schedules", schedule.schedule_id)));
        }
        parse_period(&schedule.schedule_expr).err().map(|why| (place(at, "scheduleExpr"), why))
    })
}
