//! The notifications of the cdev protocol: by what the client watches, looks at and subscribed to, or by what it asked for.

use std::collections::HashSet;
use std::sync::Arc;

use roost_log::{Batch, Cursor, Filter, Follower, StreamId};
use roost_model::approval::Pending;
use roost_model::event::NormalizedEventType as Type;
use roost_model::ids::SessionId;
use roost_rpc::Fault;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::{Command, Feed, ResumePoint};
use crate::cdev::notify::{self, Audience, Naming};
use crate::connection::Connection;
use crate::fault;
use crate::host::Host;
use crate::notification_cache::{Note, Projected};

/// Commands that wait for a feed at most.
const COMMANDS: usize = 16;

/// Events that tell nothing by themselves: what they add up to comes whole.
const PIECES: [Type; 2] = [Type::ModelOutputDelta, Type::ToolOutputDelta];

/// Which notifications a client wants.
pub(crate) enum Selection {
    /// Those that follow from what it watches, looks at and subscribed to.
    Usual,
    /// Those that it named.
    Named(Wanted),
}

/// Notifications that a client named; an empty set means all.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) types: HashSet<String>,
    pub(crate) sessions: HashSet<String>,
    pub(crate) workspaces: HashSet<String>,
}

impl Selection {
    /// The events of the log that can matter.
    pub(crate) fn filter(&self) -> Filter {
        let filter = match self {
            Self::Named(wanted) if !wanted.sessions.is_empty() => {
                Filter::streams(wanted.sessions.iter().map(|session| StreamId::from(session.as_str())))
            }
            _ => Filter::all(),
        };
        filter.types(Type::ALL.iter().copied().filter(|known| !PIECES.contains(known)))
    }

    fn takes(&self, connection: &Connection, projected: &Projected, note: &Note) -> bool {
        let workspace = projected.constant.workspace_id.as_deref();
        match self {
            Self::Usual => match note.audience {
                Audience::Everyone => true,
                Audience::Workspace => connection.follows(workspace),
                Audience::Focused => connection.follows(workspace) && connection.is_focused_on(workspace),
                Audience::Watchers => connection.watches(projected.session.as_str()),
            },
            Self::Named(wanted) => {
                let of_wanted = |workspace| wanted.workspaces.is_empty() || wanted.workspaces.contains(workspace);
                is_named(&wanted.types, note.event) && workspace.is_none_or(of_wanted)
            }
        }
    }
}

/// Whether an event is among those that a client named, by either of its names; none named means all.
pub(crate) fn is_named(types: &HashSet<String>, event: &str) -> bool {
    types.is_empty() || types.contains(event) || types.contains(&event.replacen("claude_", "agent_", 1))
}

/// A feed at work.
struct Work {
    host: Arc<Host>,
    connection: Arc<Connection>,
    selection: Selection,
    naming: Naming,
    /// Where the client said that it had come to.
    from: Option<ResumePoint>,
    /// Where the feed began; what came before was sent to nobody on this connection.
    began: Cursor,
}

/// Nobody reads any more.
struct Gone;

impl Feed {
    /// Follows the log in the form of the cdev protocol.
    pub(crate) fn cdev(
        host: Arc<Host>,
        connection: Arc<Connection>,
        selection: Selection,
        naming: Naming,
        follower: Follower,
        from: Option<ResumePoint>,
    ) -> Self {
        let (commands, told) = mpsc::channel(COMMANDS);
        let is_default = matches!(selection, Selection::Usual);
        let quiet = host.delivery.background.handle().clone();
        let work = Work { host, connection, selection, naming, from, began: follower.cursor() };
        let task = AbortOnDropHandle::new(quiet.spawn(async move {
            // Whether the client or the log is gone, nobody needs the feed any more.
            let _ = work.follow(follower, told).await;
        }));
        Self { task, commands: Some(commands), is_default, naming }
    }
}

impl Work {
    async fn follow(self, mut follower: Follower, mut told: mpsc::Receiver<Command>) -> Result<(), Gone> {
        loop {
            tokio::select! {
                biased;
                Some(command) = told.recv() => self.obey(command, follower.cursor()).await?,
                next = follower.next() => match next {
                    Ok(batch) => self.send_all(&batch, None).await?,
                    Err(roost_log::Error::Truncated { stream, resume_at }) => {
                        self.connection.tell("truncated", json!({ "session_id": stream.as_str(), "resume_at": resume_at }));
                    }
                    Err(_) => return Err(Gone),
                },
            }
        }
    }

    async fn obey(&self, command: Command, at: Cursor) -> Result<(), Gone> {
        let (session, workspace, after, done) = match command {
            Command::Remind { session } => {
                let waiting = self.waiting(&session).await?;
                return self.remind(&session, waiting).await;
            }
            Command::Watch { session, workspace, after, done } => (session, workspace, after, done),
        };
        let missed = match after {
            Some(after) => {
                let filter = Filter::stream(StreamId::from(session.as_str()));
                let filter = filter.types(Type::ALL.iter().copied().filter(|known| !PIECES.contains(known)));
                match self.host.sessions.log.follow(filter, after.start()).await {
                    Ok(follower) => Some((follower, after)),
                    Err(error) => {
                        let _ = done.send(Err(truncated(error, after)));
                        return Ok(());
                    }
                }
            }
            None => None,
        };
        // What is asked once the watch is known to be there comes with the log, after what was said before it.
        let waiting = self.waiting(&session).await?;
        self.connection.watch(&session, workspace);
        // Whoever asked may be gone; the feed finds that out by itself.
        let _ = done.send(Ok(at));
        if let Some((mut follower, after)) = missed {
            while let Ok(Some(batch)) = follower.ready().await {
                self.send_all(&batch, Some((after, at))).await?;
                if follower.cursor() >= at {
                    break;
                }
            }
        }
        self.remind(&session, waiting).await
    }

    /// What waits for an answer in a session.
    async fn waiting(&self, session: &str) -> Result<Vec<Arc<Pending>>, Gone> {
        self.host.sessions.log.pending(Some(&SessionId::from(session))).await.map_err(|_| Gone)
    }

    /// Sends again what waits for an answer in a session.
    async fn remind(&self, session: &str, waiting: Vec<Arc<Pending>>) -> Result<(), Gone> {
        if waiting.is_empty() {
            return Ok(());
        }
        let session = SessionId::from(session);
        let Ok(constant) = self.host.delivery.notifications.constant(&*self.host.sessions.log, &session).await else {
            return Err(Gone);
        };
        for one in waiting {
            for note in notify::pending(&one, &constant.about()) {
                self.send(notify::encode(&note, "", self.naming).into()).await?;
            }
        }
        Ok(())
    }

    /// Sends what the client wants of a batch; of what was missed, only what lies between the two places.
    async fn send_all(&self, batch: &Batch, missed: Option<(ResumePoint, Cursor)>) -> Result<(), Gone> {
        for entry in batch {
            let (from, until) = match missed {
                Some((from, until)) => (Some(from), Some(until)),
                None => (self.from, None),
            };
            if until.is_some_and(|until| entry.cursor() > until) {
                return Ok(());
            }
            let projected =
                self.host.delivery.notifications.project(&self.host, entry, self.naming).await.map_err(|_| Gone)?;
            let seen = from.map_or(0, |from| from.seen_of(entry.cursor()));
            for note in projected.notes.iter().skip(seen) {
                // Since the feed began, only what watchers get was missed.
                let is_missing =
                    missed.is_none() || entry.cursor() <= self.began || note.audience == Audience::Watchers;
                if is_missing && self.selection.takes(&self.connection, &projected, note) {
                    self.send(note.text.clone()).await?;
                }
            }
        }
        Ok(())
    }

    async fn send(&self, text: axum::extract::ws::Utf8Bytes) -> Result<(), Gone> {
        if self.connection.send(text).await { Ok(()) } else { Err(Gone) }
    }
}

/// A place that cannot be gone on from, with the one that can.
pub(crate) fn truncated(error: roost_log::Error, place: ResumePoint) -> Fault {
    let is_truncated = matches!(error, roost_log::Error::Truncated { .. });
    let fault = fault::log(error);
    if is_truncated { fault.with("resume_cursor", place.surviving().to_string()) } else { fault }
}
