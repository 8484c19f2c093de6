//! The normalized feed: sends the log's events unchanged, in batches.

use std::collections::HashSet;
use std::sync::Arc;

use roost_log::{Cursor, Entry, Follower};
use roost_model::ids::SessionId;
use tokio_util::task::AbortOnDropHandle;

use super::Feed;
use crate::cdev::notify::Naming;
use crate::connection::Connection;
use crate::host::Host;

/// The size of a frame's events, in bytes; a bigger event gets a frame of its own.
const FRAME: usize = 256 << 10;
/// Reserved for what surrounds the events of a frame, in bytes.
const ENVELOPE: usize = 128;

impl Feed {
    /// Starts a feed in the normalized format, of these workspaces, or of all if the set is empty.
    pub(crate) fn normalized(
        host: Arc<Host>,
        connection: Arc<Connection>,
        mut follower: Follower,
        workspaces: HashSet<String>,
    ) -> Self {
        let background = host.delivery.background.handle().clone();
        let follow = async move {
            loop {
                let batch = match follower.next().await {
                    Ok(batch) => batch,
                    Err(roost_log::Error::Truncated { stream, resume_at }) => {
                        // It was told once that something is missing; the rest comes.
                        let params = serde_json::json!({ "session_id": stream.as_str(), "resume_at": resume_at });
                        connection.notify("truncated", params);
                        continue;
                    }
                    Err(_) => return,
                };
                let mut frame = BatchFrame::default();
                for entry in &batch {
                    if !workspaces.is_empty() && !lies_in(&host, entry, &workspaces).await {
                        continue;
                    }
                    if frame.is_full(entry.json().len()) && !connection.send(frame.finish().into()).await {
                        return;
                    }
                    frame.push(entry.json(), entry.cursor());
                }
                if !frame.is_empty() && !connection.send(frame.finish().into()).await {
                    return;
                }
            }
        };
        Self {
            task: AbortOnDropHandle::new(background.spawn(follow)),
            commands: None,
            is_default: false,
            naming: Naming::default(),
            shows_panels: false,
        }
    }
}

/// An `event/batch` notification under construction.
#[derive(Default)]
struct BatchFrame {
    text: String,
    cursor: Option<Cursor>,
}

/// Whether an event's session belongs to one of these workspaces; sessions created later count too.
async fn lies_in(host: &Host, entry: Entry<'_>, workspaces: &HashSet<String>) -> bool {
    let session = SessionId::from(entry.stream().as_str());
    let constant = host.delivery.notifications.session_constants(&*host.sessions.log, &session).await;
    constant.is_ok_and(|constant| constant.workspace_id.as_ref().is_some_and(|id| workspaces.contains(id)))
}

impl BatchFrame {
    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn is_full(&self, next: usize) -> bool {
        !self.text.is_empty() && self.text.len() + next > FRAME
    }

    fn push(&mut self, event: &str, cursor: Cursor) {
        if self.text.is_empty() {
            self.text.reserve(event.len() + ENVELOPE);
            self.text.push_str(r#"{"jsonrpc":"2.0","method":"event/batch","params":{"events":["#);
        } else {
            self.text.push(',');
        }
        self.text.push_str(event);
        self.cursor = Some(cursor);
    }

    fn finish(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        text.push_str(r#"],"cursor":""#);
        if let Some(cursor) = self.cursor.take() {
            text.push_str(&cursor.to_string());
        }
        text.push_str(r#""}}"#);
        text
    }
}
