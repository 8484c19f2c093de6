//! Tool calls through the MCP gateway: judged by the one policy, and shown in the session that they belong to.
//!
//! A hosted agent's calls belong to its session. The calls of every other client are judged without a session; only if a
//! person must be asked does the client get one, whose runtime is [`RuntimeName::McpClient`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_model::ids::SessionId;
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::{QuestionAskedPayload, SessionCreatedPayload, UsageReportedPayload};
use roost_model::runtime::RuntimeName;
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolCallIdentity, ToolPolicyEvaluation};
use roost_policy::{RuntimePermissions, Toolset};
use serde_json::Value;

use crate::adapter::{Answer, RuntimeAdapter};
use crate::command::Command;
use crate::engine::{CONTRACT_VERSION, Engine};
use crate::environment::NAMESPACE;
use crate::error::Error;
use crate::ledger::GatewayToolCall;
use crate::mcp_client::McpClientAdapter;
use crate::policy_context::{Approver, CallSite};
use crate::session_secrets::SessionSecrets;
use crate::shell_folders::ShellFolders;

/// The rule that allows what changes nothing: tools of the gateway itself, and reading what services list.
pub(crate) const ONLY_LOOKS: &str = "gateway:only_looks";
/// The rule that asks a person, whatever allows the call.
pub(crate) const ALWAYS_ASKS: &str = "gateway:always_asks";

/// What the policy says about a call of a client without a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientJudgement {
    /// The evaluation that decides.
    pub evaluation: ToolPolicyEvaluation,
    /// Why it may not run, if it may not.
    pub reason: String,
}

/// The decision about a call in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayVerdict {
    /// The call in the session; absent if it never became one, because no task runs there.
    pub identity: Option<ToolCallIdentity>,
    /// Whether it may run.
    pub decision: PolicyDecision,
    /// The evaluation that decided.
    pub evaluation: ToolPolicyEvaluation,
    /// Why it may not run; empty if it may.
    pub reason: String,
}

impl Engine {
    /// Judges a call of a client that is no hosted agent. Remembered answers of `session`, if it has one, count too.
    pub async fn judge_client_call(
        &self,
        session: Option<&SessionId>,
        mode: Mode,
        call: GatewayToolCall,
    ) -> ClientJudgement {
        let host = SessionId::host();
        let workspace = self.client_folder();
        let site = CallSite {
            session: session.unwrap_or(&host),
            runtime: RuntimeName::McpClient,
            tools: &Toolset::UNKNOWN,
            workspace: &workspace,
            folders: &ShellFolders::new(workspace.clone()),
            home: Some(&workspace),
            mode,
            approver: Approver::Present,
            permissions: &RuntimePermissions::default(),
        };
        let only_looks = call.only_looks;
        let mut judgement = self.shared.judge.judge(&site, &call.request()).await;
        if only_looks {
            judgement = judgement.allowed_as_read(ONLY_LOOKS);
        }
        let denied = ToolPolicyEvaluation { source: PolicySource::Codesdk, result: PolicyResult::Deny, rule: None };
        let evaluation = judgement.evaluations.last().cloned().unwrap_or(denied);
        ClientJudgement { evaluation, reason: judgement.reason }
    }

    /// Creates the session of a client that is no hosted agent. It cannot be prompted.
    pub async fn create_client_session(&self, title: String, mode: Mode) -> Result<SessionId, Error> {
        let session_id = SessionId::new();
        let created = SessionCreatedPayload {
            contract_version: CONTRACT_VERSION.into(),
            runtime: RuntimeName::McpClient,
            cwd: self.client_folder().display().to_string(),
            credential_namespace: NAMESPACE.into(),
            title: Some(title),
            model: None,
            permission_mode: PermissionMode::from(mode),
            mode,
            workspace_id: None,
            isolation: None,
            env: Vec::new(),
            mcp_servers: Vec::new(),
            runtime_config: None,
            runtime_config_hash: None,
            adopted: None,
            forked: None,
        };
        self.begin(&session_id, Arc::new(McpClientAdapter), created, SessionSecrets::default()).await?;
        Ok(session_id)
    }

    /// Judges a call in a session, and waits for a person where the policy asks. Dropping the future withdraws the
    /// question. A hosted agent can make calls only while its task runs.
    pub async fn call_through_gateway(
        &self,
        session: &SessionId,
        call: GatewayToolCall,
    ) -> Result<GatewayVerdict, Error> {
        let command = |reply| Command::GatewayCall { call: call.clone(), reply };
        if let Some(answer) = self.send_to_live_actor(session, command).await {
            return answer;
        }
        match self.shared.record(session.as_str()).await?.runtime {
            RuntimeName::McpClient => self.send_to_actor(session.as_str(), command).await,
            _ => Ok(GatewayVerdict::no_task()),
        }
    }

    /// Records the result of a call that was allowed.
    pub async fn finish_gateway_call(
        &self,
        session: &SessionId,
        identity: &ToolCallIdentity,
        result: Value,
        is_error: bool,
    ) -> Result<(), Error> {
        let done = |reply| Command::GatewayDone { identity: identity.clone(), result: result.clone(), is_error, reply };
        // A session whose actor is gone has closed its calls.
        self.send_to_live_actor(session, done).await.unwrap_or(Ok(()))
    }

    /// Adds what a tool that runs for a session used of models to what the session used. It counts while its task runs.
    pub async fn add_usage(&self, session: &SessionId, usage: UsageReportedPayload) -> Result<(), Error> {
        let add = |reply| Command::Usage { usage: usage.clone(), reply };
        self.send_to_live_actor(session, add).await.unwrap_or(Ok(()))
    }

    /// Asks the people of a session on behalf of a tool that runs for it, and waits for the answer. Dropping the future
    /// withdraws the question. In an agent's session people can be asked only while its task runs.
    pub async fn ask_through_gateway(
        &self,
        session: &SessionId,
        question: QuestionAskedPayload,
    ) -> Result<Answer, Error> {
        let command = |reply| Command::GatewayQuestion { question: question.clone(), reply };
        if let Some(answer) = self.send_to_live_actor(session, command).await {
            return answer;
        }
        match self.shared.record(session.as_str()).await?.runtime {
            RuntimeName::McpClient => self.send_to_actor(session.as_str(), command).await,
            _ => Ok(Answer::Cancelled),
        }
    }

    /// The adapter of this name, also of one that people cannot start.
    pub(crate) fn adapter(&self, name: &RuntimeName) -> Result<Arc<dyn RuntimeAdapter>, Error> {
        match name {
            RuntimeName::McpClient => Ok(Arc::new(McpClientAdapter)),
            name => self.runtimes().usable_by_name(name),
        }
    }

    /// The folder from which paths in the calls of clients are looked up: the user's home.
    fn client_folder(&self) -> PathBuf {
        let home = self.shared.config.environments.base.get("HOME").map(Path::new);
        home.filter(|home| home.is_absolute()).unwrap_or(Path::new("/")).to_owned()
    }
}

impl GatewayVerdict {
    /// The denial of a call for which no task runs.
    pub(crate) fn no_task() -> Self {
        Self::denied(None, "no_task", "no task runs in the session of this agent, so it may call no tools")
    }

    pub(crate) fn denied(identity: Option<ToolCallIdentity>, rule: &str, reason: &str) -> Self {
        let evaluation =
            ToolPolicyEvaluation { source: PolicySource::Codesdk, result: PolicyResult::Deny, rule: Some(rule.into()) };
        Self { identity, decision: PolicyDecision::Deny, evaluation, reason: reason.into() }
    }
}
