//! Finds the session that the process at the other end of a local socket belongs to, and warns that session's viewers.

use std::os::fd::OwnedFd;

use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::SessionId;
use roost_model::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload};
use roost_model::time::Timestamp;
use roost_process::Peer;

use crate::engine::Engine;
use crate::error::Error;

/// The process at the other end of a local socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A process that Roost did not start: it acts for the user.
    User,
    /// A process of this session's runtime.
    Agent(SessionId),
    /// A process that a runtime or Roost itself started, but that belongs to no known session.
    Stray,
    /// A process that ended before it could be identified.
    Unknown,
}

impl Engine {
    /// Identifies the process at the other end of this socket. A process that is not certainly the user's is never
    /// taken for it.
    pub async fn caller(&self, socket: OwnedFd) -> Result<Caller, Error> {
        let looked = tokio::task::spawn_blocking(move || roost_process::peer_of(socket)).await;
        Ok(match looked.map_err(|_| Error::ShuttingDown)? {
            Peer::Outside => Caller::User,
            Peer::Unknown => Caller::Unknown,
            Peer::Inside { label: None } => Caller::Stray,
            // A launch that is not a session's, such as one that asks for a version, is labelled otherwise.
            Peer::Inside { label: Some(label) } => match self.shared.log.session(&label).await? {
                Some(record) => Caller::Agent(record.session_id),
                None => Caller::Stray,
            },
        })
    }

    /// Writes a warning into a session's stream, for everyone who views it.
    pub async fn warn(&self, session: &SessionId, message: String) -> Result<(), Error> {
        let record = self.shared.record(session.as_str()).await?;
        let notice = RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Engine, message };
        let event = NewEvent {
            time: Timestamp::now(),
            // Not the task's, whose last event may be written at this moment.
            trace: Trace::session(record.session_id.clone()),
            runtime: RuntimeRef::new(record.runtime),
            body: notice.into(),
        };
        self.shared.log.append(&session.into(), vec![event]).await?.await?;
        Ok(())
    }
}
