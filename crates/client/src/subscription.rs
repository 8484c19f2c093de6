//! A subscription to the log's events, over a connection of its own.

use std::collections::VecDeque;

use roost_rpc::{EventBatch, EventFormat, SubscribeParams, Typed, method};
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;

use crate::error::Error;
use crate::line::{self, Endpoint, IncomingLines, Message, Notification};

/// The method of the notification that carries events.
const BATCH: &str = "event/batch";
/// The beginning of that notification as the daemon writes it; its parameters and a brace follow.
const HEAD: &str = r#"{"jsonrpc":"2.0","method":"event/batch","params":"#;
/// How many other notifications are kept until the caller takes them; beyond it, the oldest go.
const OTHERS: usize = 64;

/// The events of the log from a position on. Dropping it ends the connection.
pub struct Subscription {
    incoming: IncomingLines,
    /// Held open, because closing it would end the connection.
    outgoing: OwnedWriteHalf,
    cursor: String,
    /// Batches that were read and not returned yet, such as those before the answer to the subscription.
    early: VecDeque<EventBatch>,
    /// Other notifications, such as that the daemon shuts down.
    others: VecDeque<Notification>,
}

impl Subscription {
    pub(crate) async fn open(endpoint: &Endpoint, params: SubscribeParams) -> Result<Self, Error> {
        let (incoming, outgoing) = line::connect(endpoint).await?;
        let mut subscription =
            Self { incoming, outgoing, cursor: String::new(), early: VecDeque::new(), others: VecDeque::new() };
        subscription.call::<method::Initialize>(1, line::hello()).await?;
        let params = SubscribeParams { format: Some(EventFormat::Normalized), ..params };
        subscription.cursor = subscription.call::<method::EventsSubscribe>(2, params).await?.cursor;
        Ok(subscription)
    }

    /// Waits for the next events, which are as the log stores them. Cancel safe.
    pub async fn next(&mut self) -> Result<EventBatch, Error> {
        let batch = loop {
            if let Some(batch) = self.early.pop_front() {
                break batch;
            }
            let line = self.incoming.next().await?;
            self.on_line(&line)?;
        };
        self.cursor.clone_from(&batch.cursor);
        Ok(batch)
    }

    /// The cursor after everything that [`Subscription::next`] returned, to resume from later.
    pub fn cursor(&self) -> &str {
        &self.cursor
    }

    /// The other notifications since the last call, such as `session_end` when the daemon stops; at most the last 64.
    pub fn notifications(&mut self) -> impl Iterator<Item = Notification> {
        self.others.drain(..)
    }

    /// Stores a batch or another notification until the caller takes it.
    fn on_line(&mut self, line: &str) -> Result<(), Error> {
        if let Some(batch) = batch(line)? {
            self.early.push_back(batch);
        } else if let Some(other) = Message::read(line)?.notification() {
            if self.others.len() == OTHERS {
                self.others.pop_front();
            }
            self.others.push_back(other);
        }
        Ok(())
    }

    /// Makes a call and waits for its answer. Only one at a time: nothing else is sent on this connection.
    async fn call<M: Typed>(&mut self, id: u64, params: M::Params) -> Result<M::Result, Error> {
        let request = line::request(id, M::METHOD, &params)?;
        self.outgoing.write_all(request.as_bytes()).await.map_err(|_| Error::Gone)?;
        loop {
            let line = self.incoming.next().await?;
            self.on_line(&line)?;
            if let Some((_, answer)) = Message::read(&line)?.answer().filter(|(answered, _)| *answered == id) {
                return line::result(M::METHOD, answer?);
            }
        }
    }
}

/// The events of a line, if that is what it holds. A line as the daemon writes it is gone through once only, because
/// there may be a hundred thousand events a second in them.
fn batch(line: &str) -> Result<Option<EventBatch>, Error> {
    let message;
    let params = match line.strip_prefix(HEAD).and_then(|rest| rest.strip_suffix('}')) {
        Some(params) => Some(params),
        None => {
            message = Message::read(line)?;
            message.params.filter(|_| message.method.as_deref() == Some(BATCH)).map(RawValue::get)
        }
    };
    let read = params.map(serde_json::from_str);
    read.transpose().map_err(|error| Error::Protocol(format!("{BATCH}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_the_same_however_its_line_is_written() {
        let events = r#"{"events":[{"seq":1},{"seq":2,"text":"a } b"}],"cursor":"b1"}"#;
        let loose = format!(r#"{{ "params": {events}, "method": "event/batch", "jsonrpc": "2.0" }}"#);
        for line in [format!("{HEAD}{events}}}"), loose] {
            let batch = batch(&line).unwrap().unwrap();
            let texts: Vec<_> = batch.events.iter().map(|event| event.get()).collect();
            assert_eq!(texts, [r#"{"seq":1}"#, r#"{"seq":2,"text":"a } b"}"#], "{line}");
            assert_eq!(batch.cursor, "b1");
        }
        for line in [r#"{"jsonrpc":"2.0","method":"event/heartbeat","params":{}}"#, "", r#"{"id":1,"result":{}}"#] {
            assert!(batch(line).unwrap().is_none(), "{line}");
        }
        assert!(batch(&format!("{HEAD}[]}}")).is_err());
    }
}
