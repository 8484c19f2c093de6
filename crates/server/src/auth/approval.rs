//! Devices that wait until somebody at the host says yes.

use std::collections::BTreeMap;
use std::fmt::Write;

use roost_model::time::Timestamp;
use serde::Serialize;
use tokio::sync::watch;

use super::{AuthError, DeviceFacts, TokenHash};

/// Requests at once; nobody looks at more.
const MOST: usize = 32;

/// A device that waits, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingRequest {
    /// To be named when it is answered.
    pub request_id: String,
    /// Where it is.
    pub remote_addr: String,
    /// What it says that it is.
    pub user_agent: String,
    /// The name that it gave itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Since when it waits.
    pub created_at: Timestamp,
    /// Until when it can be answered.
    pub expires_at: Timestamp,
}

/// What somebody said to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Waiting,
    Approved,
    Rejected,
}

/// An answer belongs to a device and not to whoever else saw the same token.
struct Request {
    token: TokenHash,
    facts: DeviceFacts,
    created_at: Timestamp,
    expires_at: Timestamp,
    verdict: watch::Sender<Verdict>,
}

/// Every request, by id; those that were answered stay until their token is gone.
#[derive(Default)]
pub(super) struct Requests(BTreeMap<String, Request>);

impl Requests {
    /// The request of this device with this token, made if need be.
    pub(super) fn request(
        &mut self,
        token: TokenHash,
        facts: &DeviceFacts,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(String, watch::Receiver<Verdict>), AuthError> {
        self.0.retain(|_, request| now < request.expires_at);
        let known = self.0.iter().find(|(_, request)| request.token == token && request.facts == *facts);
        if let Some((id, request)) = known {
            return Ok((id.clone(), request.verdict.subscribe()));
        }
        if self.0.len() >= MOST {
            return Err(AuthError::TooManyRequests);
        }
        let (id, (verdict, answer)) = (id()?, watch::channel(Verdict::Waiting));
        let request = Request { token, facts: facts.clone(), created_at: now, expires_at, verdict };
        self.0.insert(id.clone(), request);
        Ok((id, answer))
    }

    /// Those that nobody has answered, oldest first.
    pub(super) fn waiting(&self, now: Timestamp) -> Vec<PendingRequest> {
        let shown = |(id, request): (&String, &Request)| PendingRequest {
            request_id: id.clone(),
            remote_addr: request.facts.remote_addr.clone().unwrap_or_default(),
            user_agent: request.facts.user_agent.clone().unwrap_or_default(),
            name: request.facts.name.clone(),
            created_at: request.created_at,
            expires_at: request.expires_at,
        };
        let mut waiting: Vec<_> = self.0.iter().filter(|(_, request)| request.is_waiting(now)).map(shown).collect();
        waiting.sort_by_key(|request| request.created_at);
        waiting
    }

    /// Answers a request that waits.
    pub(super) fn answer(&mut self, id: &str, verdict: Verdict, now: Timestamp) -> Result<(), AuthError> {
        let request = self.0.get(id).filter(|request| request.is_waiting(now));
        let request = request.ok_or_else(|| AuthError::UnknownRequest(id.into()))?;
        request.verdict.send_replace(verdict);
        Ok(())
    }

    /// Forgets the requests with this token; whoever waits for one is woken.
    pub(super) fn forget(&mut self, token: TokenHash) {
        self.0.retain(|_, request| request.token != token);
    }
}

impl Request {
    fn is_waiting(&self, now: Timestamp) -> bool {
        now < self.expires_at && *self.verdict.borrow() == Verdict::Waiting
    }
}

fn id() -> Result<String, AuthError> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(|error| AuthError::Internal(format!("no random numbers: {error}")))?;
    let mut id = String::from("pairreq_");
    bytes.iter().for_each(|byte| _ = write!(id, "{byte:02x}"));
    Ok(id)
}
