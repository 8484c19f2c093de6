//! Waits for the end of a turn in a file or a FIFO.

use std::io;

use super::event::{AwaitedTurn, TurnComplete};
use super::fifo::Fifo;
use super::settings::{NotifySettings, SinkKind};
use super::tail::Tail;

/// An open notify source.
#[derive(Debug)]
pub(crate) enum NotifySource {
    File(Tail),
    Fifo(Fifo),
}

impl NotifySource {
    /// Opens the configured source; `None` if there is none. Called before the turn begins, so that its end is not
    /// missed.
    pub(crate) async fn open(settings: &NotifySettings) -> io::Result<Option<Self>> {
        let Some((path, kind)) = settings.sink.clone() else { return Ok(None) };
        Ok(Some(match kind {
            SinkKind::File => Self::File(Tail::open(path, settings.poll).await?),
            SinkKind::Fifo => Self::Fifo(Fifo::open(path, settings.poll).await?),
        }))
    }

    /// Waits for the end of this turn and returns the agent's last message. Lines about other turns and malformed
    /// lines are skipped. Cancel safe.
    pub(crate) async fn wait_for_end(&mut self, turn: &AwaitedTurn) -> io::Result<Option<String>> {
        loop {
            let line = match self {
                Self::File(tail) => tail.next_line().await?,
                Self::Fifo(fifo) => match fifo.next_line().await {
                    Some(line) => line,
                    None => continue,
                },
            };
            match TurnComplete::parse(&line) {
                Some(event) if event.ends(turn) => return Ok(event.last_assistant_message),
                Some(_) => {}
                None => tracing::debug!(bytes = line.len(), "A line of the notify source means nothing."),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[tokio::test]
    async fn the_end_of_a_turn_is_heard_among_noise_and_other_turns() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("notify.jsonl");
        let end = |thread: &str, text: &str| {
            format!(r#"{{"type":"agent-turn-complete","thread-id":"{thread}","last-assistant-message":"{text}"}}"#)
        };
        std::fs::write(&path, format!("{}\n", end("mine", "stale"))).unwrap();
        let named = path.display().to_string();
        let settings =
            NotifySettings::from_variables(|name| (name == "ACPLB_NOTIFY_PATH").then(|| named.clone())).unwrap();
        let mut source = NotifySource::open(&settings).await.unwrap().unwrap();
        let lines = ["not json".to_owned(), "{".into(), end("other", "no"), end("mine", "done")];
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, format!("{}\n", lines.join("\n")).as_bytes()).unwrap();
        let turn = AwaitedTurn { id: None, thread: "mine".into(), prompt: "do it".into() };
        assert_eq!(source.wait_for_end(&turn).await.unwrap().as_deref(), Some("done"));
    }
}
