//! Sessions that agents keep of a directory: asked of the daemon, or looked for where none runs.

use std::path::Path;

use roost_client::Client;
use roost_model::session::SessionRecord;
use roost_rpc::conversation::Message;
use roost_rpc::{KeptBy, MessagesParams, Order, SessionInfo, SessionListParams, method};

use crate::backend::NativeSessions;
use crate::cli::Context;
use crate::error::Error;
use crate::find;
use crate::reading::RecordReader;

/// Sessions or messages that the daemon lists at once.
const PAGE: u32 = 500;

/// The session of a directory that only its agent keeps: by its id, by the agent's own id, or by the beginning of its id.
pub(crate) async fn session(
    context: &Context,
    reading: Option<&RecordReader>,
    cwd: &Path,
    id: &str,
) -> Result<SessionRecord, Error> {
    if id == find::LATEST {
        return Err(Error::NoSessions);
    }
    let past = sessions(context, reading, cwd).await?.sessions;
    let is_it = |record: &&SessionRecord| record.runtime_session_id.as_ref().is_some_and(|own| own.as_str() == id);
    match past.iter().find(is_it) {
        Some(found) => Ok(found.clone()),
        None => find::only(id, past, |record| record.session_id.as_str()),
    }
}

/// Asks the daemon for a page of a session's messages, the oldest first.
pub(crate) async fn messages(client: &Client, session: &str, offset: u32) -> Result<Vec<Message>, Error> {
    let params = MessagesParams {
        session_id: session.into(),
        workspace_id: None,
        agent_type: None,
        limit: Some(PAGE),
        offset: Some(offset),
        order: Some(Order::Asc),
    };
    Ok(client.call::<method::SessionMessages>(params).await?.messages)
}

/// The sessions that agents keep of a directory, without those that Roost hosts. Without a reading nothing is hosted.
pub(crate) async fn sessions(
    context: &Context,
    reading: Option<&RecordReader>,
    cwd: &Path,
) -> Result<NativeSessions, Error> {
    let hosted = match reading {
        Some(RecordReader::Daemon(client)) => {
            let (sessions, notices) = list_from_daemon(client, cwd).await?;
            return Ok(NativeSessions { sessions: sessions.into_iter().map(|one| one.record).collect(), notices });
        }
        Some(RecordReader::AtRest(log)) => log.sessions(usize::MAX).await?,
        None => Vec::new(),
    };
    context.backend.native_sessions(cwd, &hosted).await
}

/// Asks the daemon for the sessions that agents keep of a directory. Also returns messages about agents that failed.
pub(crate) async fn list_from_daemon(client: &Client, cwd: &Path) -> Result<(Vec<SessionInfo>, Vec<String>), Error> {
    let mut sessions = Vec::new();
    loop {
        let params = SessionListParams {
            cwd: Some(cwd.display().to_string()),
            source: Some(KeptBy::History),
            offset: Some(u32::try_from(sessions.len()).unwrap_or(u32::MAX)),
            limit: Some(PAGE),
            ..SessionListParams::default()
        };
        let page = client.call::<method::SessionList>(params).await?;
        let is_last = page.sessions.is_empty();
        sessions.extend(page.sessions);
        if is_last || sessions.len() as u64 >= page.total {
            return Ok((sessions, page.notices));
        }
    }
}
