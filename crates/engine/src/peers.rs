//! Which session the process at the other end of a local socket belongs to, and what its viewers are told about it.

use std::os::fd::OwnedFd;

use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::SessionId;
use roost_model::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload};
use roost_model::time::Timestamp;
use roost_process::Peer;

use crate::engine::Engine;
use crate::error::Error;

/// Who is at the other end of a local socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Nobody that Roost hosts: the user.
    User,
    /// A process of this session's runtime.
    Agent(SessionId),
    /// A process that some runtime or Roost itself started, of no session that is known.
    Stray,
    /// It was gone before it could be looked at.
    Unknown,
}

impl Engine {
    /// Who is at the other end of this socket. What cannot be told for sure is never taken for the user.
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

    /// Warns those who view a session.
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
