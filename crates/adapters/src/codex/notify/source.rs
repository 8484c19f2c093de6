//! Where the end of a turn is told: a file or a FIFO.

use std::io;

use super::event::{Turn, TurnComplete};
use super::fifo::Fifo;
use super::file::Tail;
use super::settings::{Kind, Settings};

/// An open notify source.
#[derive(Debug)]
pub(crate) enum Source {
    File(Tail),
    Fifo(Fifo),
}

impl Source {
    /// Opens the source that is set, if one is; before the turn begins, so that its end is not missed.
    pub(crate) async fn open(settings: &Settings) -> io::Result<Option<Self>> {
        let Some((path, kind)) = settings.sink.clone() else { return Ok(None) };
        Ok(Some(match kind {
            Kind::File => Self::File(Tail::open(path, settings.poll).await?),
            Kind::Fifo => Self::Fifo(Fifo::open(path, settings.poll).await?),
        }))
    }

    /// The end of this turn, with the agent's last words; whatever else is said there is passed over. May be dropped and
    /// called again.
    pub(crate) async fn ended(&mut self, turn: &Turn) -> io::Result<Option<String>> {
        loop {
            let line = match self {
                Self::File(tail) => tail.line().await?,
                Self::Fifo(fifo) => match fifo.line().await {
                    Some(line) => line,
                    None => continue,
                },
            };
            match TurnComplete::read(&line) {
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
        let end = |thread: &str, said: &str| {
            format!(r#"{{"type":"agent-turn-complete","thread-id":"{thread}","last-assistant-message":"{said}"}}"#)
        };
        std::fs::write(&path, format!("{}\n", end("mine", "stale"))).unwrap();
        let named = path.display().to_string();
        let settings = Settings::of(|name| (name == "ACPLB_NOTIFY_PATH").then(|| named.clone())).unwrap();
        let mut source = Source::open(&settings).await.unwrap().unwrap();
        let lines = ["not json".to_owned(), "{".into(), end("other", "no"), end("mine", "done")];
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, format!("{}\n", lines.join("\n")).as_bytes()).unwrap();
        let turn = Turn { id: None, thread: "mine".into(), prompt: "do it".into() };
        assert_eq!(source.ended(&turn).await.unwrap().as_deref(), Some("done"));
    }
}
