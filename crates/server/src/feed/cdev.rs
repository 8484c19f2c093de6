//! The cdev feed: sends the notifications that follow from what the client watches and shows, or those that it named.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use roost_log::{Batch, Cursor, Entry, Filter, Follower, Start, StreamId};
use roost_model::approval::Pending;
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::ids::SessionId;
use roost_rpc::Fault;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::deltas::{DeltaBuffer, EVENT as DELTA_EVENT, MessagePiece};
use super::{Feed, FeedCommand, ResumePoint};
use crate::cdev::notify::{self, Audience, Naming, Notification};
use crate::connection::Connection;
use crate::fault;
use crate::host::Host;
use crate::notification_cache::{EncodedNotification, ProjectedEvent, SessionConstants, ShownChange};

/// Commands that wait for a feed at most.
const COMMANDS: usize = 16;

/// Deltas, which have no notifications of their own: the complete output follows.
const PIECES: [Type; 2] = [Type::ModelOutputDelta, Type::ToolOutputDelta];

/// Which notifications a client wants.
pub(crate) enum Selection {
    /// Those that follow from what the client watches, shows and subscribed to.
    Usual {
        /// Whether the client also asked for messages piece by piece.
        deltas: bool,
    },
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

impl NotificationFilter {
    /// Whether events of this workspace are wanted; those of none always are.
    fn has_workspace(&self, workspace: Option<&str>) -> bool {
        self.workspaces.is_empty() || workspace.is_none_or(|workspace| self.workspaces.contains(workspace))
    }
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
        let wanted =
            |known: &Type| !PIECES.contains(known) || (*known == Type::ModelOutputDelta && self.wants_deltas());
        filter.types(Type::ALL.iter().copied().filter(wanted))
    }

    /// Whether the client asked for messages piece by piece. All events do not include them: they must be named.
    fn wants_deltas(&self) -> bool {
        match self {
            Self::Usual { deltas } => *deltas,
            Self::Named(filter) => filter.types.contains(DELTA_EVENT),
        }
    }

    /// Whether the client gets the approvals of a session as a terminal's panel, and not in the other form.
    fn wants_panels(&self, host: &Host, session: &SessionId) -> bool {
        match self {
            Self::Usual { .. } => host.delivery.panels.is_interactive(session),
            Self::Named(_) => self.names_panels(),
        }
    }

    /// Whether the client did not exclude panels.
    fn names_panels(&self) -> bool {
        match self {
            Self::Usual { .. } => true,
            Self::Named(filter) => filter.types.is_empty() || filter.types.contains("pty_permission"),
        }
    }

    fn takes(
        &self,
        host: &Host,
        connection: &Connection,
        projected: &ProjectedEvent,
        note: &EncodedNotification,
    ) -> bool {
        let is_panel = Notification::is_panel(note.event);
        if is_panel.is_some_and(|is_panel| is_panel != self.wants_panels(host, &projected.session)) {
            return false;
        }
        let workspace = projected.constant.workspace_id.as_deref();
        match self {
            Self::Usual { .. } => match note.audience {
                Audience::Everyone => true,
                Audience::Workspace => connection.follows(workspace),
                Audience::Focused => connection.follows(workspace) && connection.is_focused_on(workspace),
                Audience::Watchers => connection.watches(projected.session.as_str()),
            },
            Self::Named(filter) => is_named(&filter.types, note.event) && filter.has_workspace(workspace),
        }
    }

    /// Whether the client gets the pieces of messages of this session.
    fn takes_deltas(&self, connection: &Connection, session: &SessionId, constant: &SessionConstants) -> bool {
        match self {
            Self::Usual { .. } => connection.watches(session.as_str()),
            Self::Named(filter) => filter.has_workspace(constant.workspace_id.as_deref()),
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
    /// The log's end when the feed began: what only matters at the moment is sent of later events.
    live_after: Cursor,
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
        let is_default = matches!(selection, Selection::Usual { .. });
        let shows_panels = selection.names_panels();
        let background = host.delivery.background.handle().clone();
        let began = follower.cursor();
        let mut feed = CdevFeed { host, connection, selection, naming, from, began, live_after: began };
        let task = AbortOnDropHandle::new(background.spawn(async move {
            if feed.from.is_some() {
                let Ok(now) = feed.host.sessions.log.follow(feed.selection.filter(), Start::Now).await else { return };
                feed.live_after = now.cursor();
            }
            // Whether the client or the log is gone, nobody needs the feed any more.
            let _ = feed.follow(follower, received).await;
        }));
        Self { task, commands: Some(commands), is_default, naming, shows_panels }
    }
}

impl CdevFeed {
    async fn follow(self, mut follower: Follower, mut received: mpsc::Receiver<FeedCommand>) -> Result<(), ClientGone> {
        let mut deltas = DeltaBuffer::default();
        loop {
            tokio::select! {
                biased;
                Some(command) = received.recv() => self.execute(command, follower.cursor()).await?,
                () = deltas.due() => for (session, pieces) in deltas.take_all() {
                    self.send_pieces(&session, pieces).await?;
                },
                next = follower.next() => match next {
                    Ok(batch) => self.send_live(&batch, &mut deltas).await?,
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
        self.connection.forget_shown(session);
        if waiting.is_empty() {
            return Ok(());
        }
        let session = SessionId::from(session);
        let Ok(constant) = self.host.delivery.notifications.session_constants(&*self.host.sessions.log, &session).await
        else {
            return Err(ClientGone);
        };
        let wants_panels = self.selection.wants_panels(&self.host, &session);
        for one in waiting {
            let selected = self.host.delivery.panels.selected(&one);
            for note in notify::pending(&one, &constant.context(), selected) {
                if Notification::is_panel(note.event).is_some_and(|is_panel| is_panel != wants_panels) {
                    continue;
                }
                let shown = ShownChange::from_notification(&note);
                self.show(&session, notify::encode(&note, "", self.naming).into(), shown.as_ref()).await?;
            }
        }
        Ok(())
    }

    /// Sends the notifications of a batch, and collects the pieces of messages in it.
    async fn send_live(&self, batch: &Batch, deltas: &mut DeltaBuffer) -> Result<(), ClientGone> {
        if !self.selection.wants_deltas() {
            return self.send_all(batch, None).await;
        }
        for entry in batch {
            let event = entry.event().map_err(|_| ClientGone)?;
            if let EventBody::ModelOutputDelta(_) = event.body {
                if entry.cursor() > self.live_after {
                    deltas.push(event);
                }
                continue;
            }
            self.send_pieces(&event.trace.session_id, deltas.take(event)).await?;
            self.send_entry(entry, None).await?;
        }
        Ok(())
    }

    /// Sends pieces of a session's message that the client wants. They are in no log, so they have no cursor.
    async fn send_pieces(&self, session: &SessionId, pieces: Vec<MessagePiece>) -> Result<(), ClientGone> {
        if pieces.is_empty() {
            return Ok(());
        }
        let constant = self.host.delivery.notifications.session_constants(&*self.host.sessions.log, session).await;
        let constant = constant.map_err(|_| ClientGone)?;
        if !self.selection.takes_deltas(&self.connection, session, &constant) {
            return Ok(());
        }
        for MessagePiece { uuid, kind, text, time } in pieces {
            let note = notify::delta(session, time, &constant.context(), &uuid, kind, &text);
            self.send(notify::encode(&note, "", self.naming).into()).await?;
        }
        Ok(())
    }

    /// Sends the notifications of a batch that the client wants. With `missed`, only those between the two positions.
    async fn send_all(&self, batch: &Batch, missed: Option<(ResumePoint, Cursor)>) -> Result<(), ClientGone> {
        for entry in batch {
            if missed.is_some_and(|(_, until)| entry.cursor() > until) {
                return Ok(());
            }
            self.send_entry(entry, missed.map(|(from, _)| from)).await?;
        }
        Ok(())
    }

    /// Sends the notifications of one event that the client wants. With `missed`, only those after that position.
    async fn send_entry(&self, entry: Entry<'_>, missed: Option<ResumePoint>) -> Result<(), ClientGone> {
        let notifications = &self.host.delivery.notifications;
        let projected = notifications.project(&self.host, entry, self.naming).await.map_err(|_| ClientGone)?;
        let seen = missed.or(self.from).map_or(0, |from| from.seen_notifications(entry.cursor()));
        // A phone takes an agent that is busy for one that waits for nobody.
        let has_ephemeral = projected.notifications.iter().any(|note| Notification::is_ephemeral(note.event));
        let is_past = missed.is_some() || entry.cursor() <= self.live_after;
        let only_durable = has_ephemeral && (is_past || !self.waiting(projected.session.as_str()).await?.is_empty());
        for note in projected.notifications.iter().skip(seen) {
            // Since the feed began, only what watchers get was missed.
            let is_missing = missed.is_none() || entry.cursor() <= self.began || note.audience == Audience::Watchers;
            let is_over = only_durable && Notification::is_ephemeral(note.event);
            if !is_missing || is_over || !self.selection.takes(&self.host, &self.connection, &projected, note) {
                continue;
            }
            self.show(&projected.session, note.text.clone(), note.shown.as_ref()).await?;
        }
        Ok(())
    }

    /// Sends a notification of a session, with which the client is shown an approval or question, or its end.
    async fn show(&self, session: &SessionId, text: Utf8Bytes, shown: Option<&ShownChange>) -> Result<(), ClientGone> {
        let note = || {
            if let Some(change) = shown {
                self.connection.note_shown(session.as_str(), change);
            }
        };
        if self.connection.send_noting(text, note).await { Ok(()) } else { Err(ClientGone) }
    }

    async fn send(&self, text: Utf8Bytes) -> Result<(), ClientGone> {
        if self.connection.send(text).await { Ok(()) } else { Err(ClientGone) }
    }
}

/// The fault of a position that retention has removed, with the cursor from which the client can resume.
pub(crate) fn truncated(error: roost_log::Error, place: ResumePoint) -> Fault {
    let is_truncated = matches!(error, roost_log::Error::Truncated { .. });
    let fault = fault::log(error);
    if is_truncated { fault.with("resume_cursor", place.surviving().to_string()) } else { fault }
}
