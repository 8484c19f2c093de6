//! Pairing requests of devices that wait for approval at the host.

use std::collections::BTreeMap;
use std::fmt::Write;

use roost_model::time::Timestamp;
use serde::Serialize;
use tokio::sync::watch;

use super::{AuthError, DeviceFacts, TokenHash};

/// The greatest number of waiting requests; nobody reads through more.
const MOST: usize = 32;

/// A device that waits, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingRequest {
    /// The id by which the request is approved or rejected.
    pub request_id: String,
    /// The address it connects from; empty if unknown. Behind a proxy it names the forwarded addresses too.
    pub remote_addr: String,
    /// The `User-Agent` header; empty if there was none.
    pub user_agent: String,
    /// The name that the device sent, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When the device first asked.
    pub created_at: Timestamp,
    /// When the request lapses, together with its pairing token.
    pub expires_at: Timestamp,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Waiting,
    Approved,
    Rejected,
}

/// A device's request. It is bound to the token and the device, so that nobody else who saw the token gets the answer.
struct ApprovalRequest {
    token: TokenHash,
    facts: DeviceFacts,
    created_at: Timestamp,
    expires_at: Timestamp,
    verdict: watch::Sender<Verdict>,
}

/// All requests, by id. An answered one stays until its token is used or expires.
#[derive(Default)]
pub(super) struct ApprovalRequests(BTreeMap<String, ApprovalRequest>);

impl ApprovalRequests {
    /// Finds or creates the request of this device with this token; the receiver gets its verdict.
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
        let request = ApprovalRequest { token, facts: facts.clone(), created_at: now, expires_at, verdict };
        self.0.insert(id.clone(), request);
        Ok((id, answer))
    }

    /// The requests that wait for an answer, oldest first.
    pub(super) fn waiting(&self, now: Timestamp) -> Vec<PendingRequest> {
        let shown = |(id, request): (&String, &ApprovalRequest)| PendingRequest {
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

    /// Answers a waiting request; an error if it was answered before or has lapsed.
    pub(super) fn answer(&mut self, id: &str, verdict: Verdict, now: Timestamp) -> Result<(), AuthError> {
        let request = self.0.get(id).filter(|request| request.is_waiting(now));
        let request = request.ok_or_else(|| AuthError::UnknownRequest(id.into()))?;
        request.verdict.send_replace(verdict);
        Ok(())
    }

    /// Forgets the requests with this token, which wakes whoever waits for one.
    pub(super) fn forget(&mut self, token: TokenHash) {
        self.0.retain(|_, request| request.token != token);
    }
}

impl ApprovalRequest {
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
