//! Finds the session that an id or the beginning of one names.

use std::path::Path;

use roost_client::Client;
use roost_log::Log;
use roost_model::ids::SessionId;
use roost_model::session::SessionRecord;
use roost_rpc::{FaultCode, KeptBy, SessionInfo, SessionListParams, SessionParams, method};

use crate::error::Error;
use crate::past;

/// Characters of an id that are always shown.
const SHORTEST: usize = 8;
/// Sessions that the daemon lists at once.
const PAGE: u32 = 500;

/// Names the session that changed last, wherever a session is named.
pub(crate) const LATEST: &str = "latest";

/// The stored session of this id, of this native id, or whose id begins like this; or the latest one.
pub(crate) async fn session(log: &dyn Log, id: &str) -> Result<SessionRecord, Error> {
    if id == LATEST {
        let latest = log.sessions(usize::MAX).await?.into_iter().find(|session| !session.hidden);
        return latest.ok_or(Error::NoSessions);
    }
    match log.session(id).await? {
        Some(found) => Ok(found),
        None => only(id, log.sessions(usize::MAX).await?, |record| record.session_id.as_str()),
    }
}

/// The same among the sessions that the daemon hosts.
pub(crate) async fn hosted(client: &Client, id: &str) -> Result<SessionInfo, Error> {
    if id == LATEST {
        return latest(client).await;
    }
    match get_exact(client, id).await? {
        Some(found) if found.source == KeptBy::Managed => Ok(found),
        _ => only(id, list_hosted(client).await?, |info| &info.session_id),
    }
}

/// The same among hosted sessions and those that agents keep of this directory.
pub(crate) async fn hosted_or_past(client: &Client, id: &str, cwd: &Path) -> Result<SessionInfo, Error> {
    if id == LATEST {
        return latest(client).await;
    }
    if let Some(found) = get_exact(client, id).await? {
        return Ok(found);
    }
    let (past, _) = past::list_from_daemon(client, cwd).await?;
    let is_it = |info: &&SessionInfo| info.record.runtime_session_id.as_ref().is_some_and(|own| own.as_str() == id);
    if let Some(found) = past.iter().find(is_it) {
        return Ok(found.clone());
    }
    let all = list_hosted(client).await?.into_iter().chain(past).collect();
    only(id, all, |info| &info.session_id)
}

/// The session that changed last, as `roost sessions` lists it first.
async fn latest(client: &Client) -> Result<SessionInfo, Error> {
    let params = SessionListParams { limit: Some(1), source: Some(KeptBy::Managed), ..SessionListParams::default() };
    client.call::<method::SessionList>(params).await?.sessions.pop().ok_or(Error::NoSessions)
}

/// The session that works or waits; of several the one that changed last. If none does, the latest one.
pub(crate) async fn busiest(client: &Client) -> Result<SessionInfo, Error> {
    let mut sessions = list_hosted(client).await?;
    let busy = sessions.iter().position(|info| info.record.open_task.is_some());
    match sessions.is_empty() {
        true => Err(Error::NoSessions),
        false => Ok(sessions.swap_remove(busy.unwrap_or(0))),
    }
}

/// The session of exactly this id.
async fn get_exact(client: &Client, id: &str) -> Result<Option<SessionInfo>, Error> {
    match client.call::<method::SessionGet>(SessionParams { session_id: id.into(), agent_type: None }).await {
        Err(roost_client::Error::Fault(fault)) if fault.kind() == Some(FaultCode::SessionNotFound) => Ok(None),
        answer => Ok(Some(answer?)),
    }
}

async fn list_hosted(client: &Client) -> Result<Vec<SessionInfo>, Error> {
    let mut sessions = Vec::new();
    loop {
        let params = SessionListParams {
            limit: Some(PAGE),
            offset: Some(u32::try_from(sessions.len()).unwrap_or(u32::MAX)),
            source: Some(KeptBy::Managed),
            ..SessionListParams::default()
        };
        let page = client.call::<method::SessionList>(params).await?.sessions;
        if page.is_empty() {
            return Ok(sessions);
        }
        sessions.extend(page);
    }
}

/// The only one whose id begins like this.
pub(crate) fn only<T>(id: &str, all: Vec<T>, id_of: impl Fn(&T) -> &str) -> Result<T, Error> {
    let mut found: Vec<_> = all.into_iter().filter(|one| !id.is_empty() && id_of(one).starts_with(id)).collect();
    if found.len() > 1 {
        let found = found.iter().map(|one| id_of(one).to_owned()).collect();
        return Err(Error::AmbiguousSession { id: id.into(), found });
    }
    found.pop().ok_or_else(|| Error::UnknownSession(id.into()))
}

/// How many characters of each id tell all of them apart; at least [`SHORTEST`].
pub(crate) fn unique_length<'a>(ids: impl Iterator<Item = &'a SessionId>) -> usize {
    let mut ids: Vec<_> = ids.map(SessionId::as_str).collect();
    ids.sort_unstable();
    let shared = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| shared(pair) + 1).max().unwrap_or(0).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_as_short_as_they_stay_different() {
        let table: [(&[&str], usize); 4] = [
            (&[], 8),
            (&["0123456789"], 8),
            (&["0123456789", "1123456789"], 8),
            (&["0123456789ab", "x", "0123456789xy"], 11),
        ];
        for (ids, length) in table {
            let ids: Vec<_> = ids.iter().map(|id| SessionId::from(*id)).collect();
            assert_eq!(unique_length(ids.iter()), length, "{ids:?}");
        }
    }
}
