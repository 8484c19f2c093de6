//! The sessions of one connection and what each remembers between turns; nothing is persisted.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{self, SessionId};
use agent_client_protocol::{Error, ErrorCode};
use parking_lot::{Mutex, MutexGuard};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::prompt::Prompt;

#[derive(Default)]
pub(super) struct Sessions {
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
}

pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    prompts: u64,
    restored: u64,
    tokens: u64,
    always_allowed: HashSet<String>,
    running: Option<CancellationToken>,
}

/// Counters of a session when a turn begins.
#[derive(Clone, Copy)]
pub(super) struct SessionTotals {
    /// Prompts of this session, the running one included.
    pub(super) prompts: u64,
    /// Blocks of an earlier transcript that the host put in front of a prompt.
    pub(super) restored: u64,
    /// Tokens of all earlier turns, the running one excluded.
    pub(super) tokens: u64,
}

impl Sessions {
    pub(super) fn open(&self, cwd: PathBuf) -> Result<Arc<Session>, Error> {
        if !cwd.is_absolute() {
            let message = format!("cwd must be an absolute path, but it is `{}`", cwd.display());
            return Err(Error::new(ErrorCode::INVALID_PARAMS, message));
        }
        // Unique across processes, because a host may know several demo agents.
        let id = SessionId::new(Uuid::now_v7().to_string());
        let session = Arc::new(Session { id: id.clone(), cwd, memory: Mutex::default() });
        self.open.lock().insert(id, session.clone());
        Ok(session)
    }

    pub(super) fn get(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        let found = self.open.lock().get(id).cloned();
        found.ok_or_else(|| schema::Error::session_not_found(id.clone()).into())
    }

    pub(super) fn close(&self, id: &SessionId) -> Result<(), Error> {
        self.get(id)?.cancel();
        self.open.lock().remove(id);
        Ok(())
    }
}

impl Session {
    /// Starts the only turn a session may run at a time; the token tells it to stop.
    pub(super) fn begin(&self, prompt: &Prompt) -> Result<(CancellationToken, SessionTotals), Error> {
        let mut memory = self.memory();
        if memory.running.is_some() {
            let message = "the session is still busy with another prompt; cancel it or wait";
            return Err(Error::new(ErrorCode::INVALID_REQUEST, message).data(json!({ "sessionId": self.id })));
        }
        let stop = CancellationToken::new();
        memory.running = Some(stop.clone());
        memory.prompts += 1;
        memory.restored += prompt.restored;
        let totals = SessionTotals { prompts: memory.prompts, restored: memory.restored, tokens: memory.tokens };
        Ok((stop, totals))
    }

    /// Ends the running turn, which used this many tokens.
    pub(super) fn end(&self, tokens: u64) {
        let mut memory = self.memory();
        memory.running = None;
        memory.tokens += tokens;
    }

    /// Asks the running turn, if any, to stop.
    pub(super) fn cancel(&self) {
        if let Some(running) = &self.memory().running {
            running.cancel();
        }
    }

    pub(super) fn always_allow(&self, tool: &str) {
        self.memory().always_allowed.insert(tool.to_owned());
    }

    pub(super) fn is_always_allowed(&self, tool: &str) -> bool {
        self.memory().always_allowed.contains(tool)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock()
    }
}
