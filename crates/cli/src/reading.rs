//! Reads the record: from the daemon if one runs, else from the log files.

use std::sync::Arc;

use roost_client::{Client, Subscription};
use roost_log::{Filter, Follower, Log, Seq, Start, StreamId};
use roost_model::approval::Pending;
use roost_model::ids::SessionId;
use roost_model::session::SessionRecord;
use roost_process::records;
use roost_rpc::{KeptBy, LogReadParams, PendingParams, SessionListParams, SubscribeParams, method};

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::find;
use crate::line::{self, EventLines};
use crate::stderr::print_stderr;

/// Events in one page.
const PAGE: u32 = 4096;
/// Sessions in one page of the daemon's list.
const SESSIONS: u32 = 500;

/// The source of the record: a running daemon, or the log files if none runs.
pub(crate) enum RecordReader {
    Daemon(Box<Client>),
    AtRest(Arc<dyn Log>),
}

impl RecordReader {
    /// An agent that outlived its daemon would end if no daemon came for it, so one is started then. If that fails, the
    /// log can still be read.
    pub(crate) async fn open(context: &Context, command: &str) -> Result<Self, Error> {
        if let Some(client) = connect::find(&context.state).await? {
            return Ok(Self::Daemon(Box::new(client)));
        }
        if records::any_adoptable(&context.state.run()).await {
            match connect::open(context).await {
                Ok(client) => return Ok(Self::Daemon(Box::new(client))),
                Err(error) => {
                    print_stderr(format_args!("roost: no daemon could be started for what still runs: {error}"))
                }
            }
        }
        Ok(Self::AtRest(context.backend.read_log(command).await?))
    }

    /// The session of this id, of this native id, or whose id begins like this.
    pub(crate) async fn session(&self, id: &str) -> Result<SessionRecord, Error> {
        match self {
            Self::Daemon(client) => Ok(find::hosted(client, id).await?.record),
            Self::AtRest(log) => find::session(&**log, id).await,
        }
    }

    /// The next events of a session; none at its end.
    pub(crate) async fn page(&self, session: &SessionId, after: Seq) -> Result<EventLines, Error> {
        match self {
            Self::Daemon(client) => {
                let params = LogReadParams {
                    session_id: session.to_string(),
                    after_seq: Some(after),
                    before_seq: None,
                    types: None,
                    limit: Some(PAGE),
                };
                Ok(line::received(client.call::<method::LogRead>(params).await?.events))
            }
            Self::AtRest(log) => Ok(line::stored(&log.read(&session.into(), after, PAGE as usize).await?.batch)),
        }
    }

    /// Follows the events of a session from now on.
    pub(crate) async fn follow(&self, session: &SessionId) -> Result<EventFollower, Error> {
        match self {
            Self::Daemon(client) => {
                let params =
                    SubscribeParams { sessions: Some(vec![session.to_string()]), ..SubscribeParams::default() };
                Ok(EventFollower::Daemon(client.subscribe(params).await?))
            }
            Self::AtRest(log) => {
                Ok(EventFollower::AtRest(log.follow(Filter::stream(StreamId::from(session)), Start::Now).await?))
            }
        }
    }

    /// The sessions that are listed, the latest first.
    pub(crate) async fn sessions(&self) -> Result<Vec<SessionRecord>, Error> {
        let client = match self {
            Self::Daemon(client) => client,
            Self::AtRest(log) => {
                let mut sessions = log.sessions(usize::MAX).await?;
                sessions.retain(|session| !session.hidden);
                return Ok(sessions);
            }
        };
        let mut sessions = Vec::new();
        loop {
            let offset = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
            let params = SessionListParams {
                offset: Some(offset),
                limit: Some(SESSIONS),
                source: Some(KeptBy::Managed),
                ..SessionListParams::default()
            };
            let page = client.call::<method::SessionList>(params).await?;
            let is_last = page.sessions.is_empty();
            sessions.extend(page.sessions.into_iter().map(|session| session.record));
            if is_last || sessions.len() as u64 >= page.total {
                return Ok(sessions);
            }
        }
    }

    /// All approvals and questions that wait for an answer, the oldest first.
    pub(crate) async fn pending(&self) -> Result<Vec<Pending>, Error> {
        match self {
            Self::Daemon(client) => {
                let pending = client.call::<method::PermissionPending>(PendingParams::default()).await?;
                Ok(pending.requests.into_iter().map(|request| request.pending).collect())
            }
            Self::AtRest(log) => Ok(log.pending(None).await?.iter().map(|one| (**one).clone()).collect()),
        }
    }
}

/// A session that is followed.
pub(crate) enum EventFollower {
    Daemon(Subscription),
    AtRest(Follower),
}

impl EventFollower {
    /// The next events; waits for them.
    pub(crate) async fn next(&mut self) -> Result<EventLines, Error> {
        match self {
            Self::Daemon(events) => Ok(line::batch(events.next().await?)),
            Self::AtRest(follower) => Ok(line::stored(&follower.next().await?)),
        }
    }
}
