//! The tokens by which hosted agents prove to the MCP gateway which session they belong to.
//!
//! A token is made when a runtime is started and dies with that runtime. Only its hash is kept: in memory, and in a row
//! beside the log, because a runtime may outlive the daemon.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use parking_lot::Mutex;
use roost_log::{Log, RowChange, RowKind};
use roost_model::canonical;
use roost_model::ids::SessionId;
use roost_model::secret::Secret;
use tokio::sync::watch;

use crate::engine::Engine;
use crate::error::Error;

/// What every token of a session begins with, and no other token does.
pub const SESSION_TOKEN_PREFIX: &str = "roost_a_";
/// Random bytes in a token.
const RANDOM_BYTES: usize = 32;
/// What the ids of the rows begin with; the session's id follows.
const ROW_PREFIX: &str = "session_token/";

/// The holders of all tokens that are valid now, by the hashes of the tokens.
#[derive(Clone, Default)]
pub(crate) struct SessionTokens(Arc<Mutex<HashMap<String, TokenHolder>>>);

/// Whose token it is.
struct TokenHolder {
    session: SessionId,
    /// Dropped with the token, which whoever follows it sees.
    alive: watch::Sender<()>,
}

/// Keeps a token valid; dropping it ends that.
pub(crate) struct TokenLease {
    tokens: SessionTokens,
    session: SessionId,
    hash: String,
}

impl SessionTokens {
    /// Makes a token for a session; fails only if the system has no random numbers.
    pub(crate) fn issue(&self, session: &SessionId) -> Result<(Secret, TokenLease), getrandom::Error> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().fold(SESSION_TOKEN_PREFIX.to_owned(), |mut text, byte| {
            // Writing into a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        let lease = self.lease(session, canonical::hash_bytes(token.as_bytes()));
        Ok((token.into(), lease))
    }

    /// Makes the token of a runtime that outlived its daemon valid again; `None` if it had none.
    pub(crate) async fn restore(&self, log: &dyn Log, session: &SessionId) -> Result<Option<TokenLease>, Error> {
        let row = log.row(RowKind::Secret, &row_id(session)).await?;
        let hash = row.and_then(|body| serde_json::from_str::<String>(&body).ok());
        Ok(hash.map(|hash| self.lease(session, hash)))
    }

    /// Deletes the rows of tokens that died with their daemon.
    pub(crate) async fn forget_dead(&self, log: &dyn Log) -> Result<(), Error> {
        let alive: Vec<_> = self.0.lock().values().map(|holder| row_id(&holder.session)).collect();
        let rows = log.rows(RowKind::Secret).await?.into_iter().map(|(id, _)| id);
        let dead = rows.filter(|id| id.starts_with(ROW_PREFIX) && !alive.contains(id));
        let changes: Vec<_> = dead.map(|id| RowChange { kind: RowKind::Secret, id, body: None }).collect();
        Ok(log.keep(changes, Vec::new()).await?)
    }

    fn lease(&self, session: &SessionId, hash: String) -> TokenLease {
        let holder = TokenHolder { session: session.clone(), alive: watch::Sender::new(()) };
        self.0.lock().insert(hash.clone(), holder);
        TokenLease { tokens: self.clone(), session: session.clone(), hash }
    }
}

impl TokenLease {
    /// Stores the hash, for the case that the runtime outlives the daemon.
    pub(crate) async fn store(&self, log: &dyn Log) -> Result<(), Error> {
        self.change(log, Some(format!("\"{}\"", self.hash))).await
    }

    /// Ends the token and deletes its hash.
    pub(crate) async fn revoke(self, log: &dyn Log) -> Result<(), Error> {
        self.tokens.0.lock().remove(&self.hash);
        self.change(log, None).await
    }

    async fn change(&self, log: &dyn Log, body: Option<String>) -> Result<(), Error> {
        let change = RowChange { kind: RowKind::Secret, id: row_id(&self.session), body };
        Ok(log.keep(vec![change], Vec::new()).await?)
    }
}

impl Drop for TokenLease {
    fn drop(&mut self) {
        self.tokens.0.lock().remove(&self.hash);
    }
}

fn row_id(session: &SessionId) -> String {
    format!("{ROW_PREFIX}{session}")
}

impl Engine {
    /// The session whose runtime was started with this token; `None` if no such runtime is alive.
    pub fn session_of_token(&self, token: &str) -> Option<SessionId> {
        let hash = canonical::hash_bytes(token.as_bytes());
        self.shared.tokens.0.lock().get(&hash).map(|holder| holder.session.clone())
    }

    /// Closes when the runtime that was started with this token is gone; `None` if it is gone already.
    pub fn follow_token(&self, token: &str) -> Option<watch::Receiver<()>> {
        let hash = canonical::hash_bytes(token.as_bytes());
        self.shared.tokens.0.lock().get(&hash).map(|holder| holder.alive.subscribe())
    }
}
