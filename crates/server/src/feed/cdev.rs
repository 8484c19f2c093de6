//! The cdev feed: sends the notifications that follow from what the client watches and shows, or those that it named.

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

use super::{Feed, FeedCommand, ResumePoint};
use crate::cdev::notify::{self, Audience, Naming};
use crate::connection::Connection;
use crate::fault;
use crate::host::Host;
use crate::notification_cache::{EncodedNotification, ProjectedEvent};

/// Commands that wait for a feed at most.
const COMMANDS: usize = 16;

/// Deltas, which have no notifications: the complete output follows.
const PIECES: [Type; 2] = [Type::ModelOutputDelta, Type::ToolOutputDelta];

/// Which notifications a client wants.
pub(crate) enum Selection {
    /// Those that follow from what the client watches, shows and subscribed to.
    Usual,
    /// Those that the client named in `events/subscribe`.
    Named(NotificationFilter),
}

/// Notifications that a client named; an empty set means all.
#[derive(Default)]
pub(crate) struct NotificationFilter {
    pub(crate) types: HashSet<String>,
    pub(crate) sessions: HashSet<String>,
    pub(crate) workspaces: HashSet<String>,
}

impl Selection {
    /// The filter of the log events that can become notifications.
    pub(crate) fn filter(&self) -> Filter {
        let filter = match self {
            Self::Named(filter) if !filter.sessions.is_empty() => {
                Filter::streams(filter.sessions.iter().map(|session| StreamId::from(session.as_str())))
            }
            _ => Filter::all(),
        };
        filter.types(Type::ALL.iter().copied().filter(|known| !PIECES.contains(known)))
    }

    fn takes(&self, connection: &Connection, projected: &ProjectedEvent, note: &EncodedNotification) -> bool {
        let workspace = projected.constant.workspace_id.as_deref();
        match self {
            Self::Usual => match note.audience {
                Audience::Everyone => true,
                Audience::Workspace => connection.follows(workspace),
                Audience::Focused => connection.follows(workspace) && connection.is_focused_on(workspace),
                Audience::Watchers => connection.watches(projected.session.as_str()),
            },
            Self::Named(filter) => {
                let is_wanted = |workspace| filter.workspaces.is_empty() || filter.workspaces.contains(workspace);
                is_named(&filter.types, note.event) && workspace.is_none_or(is_wanted)
            }
        }
    }
}

/// Whether an event is among those that a client named, by either of its names; none named means all.
pub(crate) fn is_named(types: &HashSet<String>, event: &str) -> bool {
    types.is_empty() || types.contains(event) || types.contains(&event.replacen("claude_", "agent_", 1))
}

/// The state of one cdev feed's task.
struct CdevFeed {
    host: Arc<Host>,
    connection: Arc<Connection>,
    selection: Selection,
    naming: Naming,
    /// The position that the client resumes from.
    from: Option<ResumePoint>,
    /// The position at which the feed began; earlier events were not sent on this connection.
    began: Cursor,
}

/// The client or the log is gone, so the feed ends.
struct ClientGone;

impl Feed {
    /// Starts a feed in the cdev format.
    pub(crate) fn cdev(
        host: Arc<Host>,
        connection: Arc<Connection>,
        selection: Selection,
        naming: Naming,
        follower: Follower,
        from: Option<ResumePoint>,
    ) -> Self {
        let (commands, received) = mpsc::channel(COMMANDS);
        let is_default = matches!(selection, Selection::Usual);
        let background = host.delivery.background.handle().clone();
        let feed = CdevFeed { host, connection, selection, naming, from, began: follower.cursor() };
        let task = AbortOnDropHandle::new(background.spawn(async move {
            // Whether the client or the log is gone, nobody needs the feed any more.
            let _ = feed.follow(follower, received).await;
        }));
        Self { task, commands: Some(commands), is_default, naming }
    }
}

impl CdevFeed {
    async fn follow(self, mut follower: Follower, mut received: mpsc::Receiver<FeedCommand>) -> Result<(), ClientGone> {
        loop {
            tokio::select! {
                biased;
                Some(command) = received.recv() => self.execute(command, follower.cursor()).await?,
                next = follower.next() => match next {
                    Ok(batch) => self.send_all(&batch, None).await?,
                    Err(roost_log::Error::Truncated { stream, resume_at }) => {
                        self.connection.notify("truncated", json!({ "session_id": stream.as_str(), "resume_at": resume_at }));
                    }
                    Err(_) => return Err(ClientGone),
                },
            }
        }
    }

    async fn execute(&self, command: FeedCommand, at: Cursor) -> Result<(), ClientGone> {
        let (session, workspace, after, done) = match command {
            FeedCommand::Remind { session } => {
                let waiting = self.waiting(&session).await?;
                return self.remind(&session, waiting).await;
            }
            FeedCommand::Watch { session, workspace, after, done } => (session, workspace, after, done),
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

    /// The pending approvals and questions of a session.
    async fn waiting(&self, session: &str) -> Result<Vec<Arc<Pending>>, ClientGone> {
        self.host.sessions.log.pending(Some(&SessionId::from(session))).await.map_err(|_| ClientGone)
    }

    /// Sends the pending approvals and questions of a session again.
    async fn remind(&self, session: &str, waiting: Vec<Arc<Pending>>) -> Result<(), ClientGone> {
        if waiting.is_empty() {
            return Ok(());
        }
        let session = SessionId::from(session);
        let Ok(constant) = self.host.delivery.notifications.session_constants(&*self.host.sessions.log, &session).await
        else {
            return Err(ClientGone);
        };
        for one in waiting {
            for note in notify::pending(&one, &constant.context()) {
                self.send(notify::encode(&note, "", self.naming).into()).await?;
            }
        }
        Ok(())
    }

    /// Sends the notifications of a batch that the client wants. With `missed`, only those between the two positions.
    async fn send_all(&self, batch: &Batch, missed: Option<(ResumePoint, Cursor)>) -> Result<(), ClientGone> {
        for entry in batch {
            let (from, until) = match missed {
                Some((from, until)) => (Some(from), Some(until)),
                None => (self.from, None),
            };
            if until.is_some_and(|until| entry.cursor() > until) {
                return Ok(());
            }
            let projected = self
                .host
                .delivery
                .notifications
                .project(&self.host, entry, self.naming)
                .await
                .map_err(|_| ClientGone)?;
            let seen = from.map_or(0, |from| from.seen_notifications(entry.cursor()));
            for note in projected.notifications.iter().skip(seen) {
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

    async fn send(&self, text: axum::extract::ws::Utf8Bytes) -> Result<(), ClientGone> {
        if self.connection.send(text).await { Ok(()) } else { Err(ClientGone) }
    }
}

/// The fault of a position that retention has removed, with the cursor from which the client can resume.
pub(crate) fn truncated(error: roost_log::Error, place: ResumePoint) -> Fault {
    let is_truncated = matches!(error, roost_log::Error::Truncated { .. });
    let fault = fault::log(error);
    if is_truncated { fault.with("resume_cursor", place.surviving().to_string()) } else { fault }
}
