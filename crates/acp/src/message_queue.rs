//! The messages of an editor that wait to be handled, bounded by their number and by their bytes.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The longest message that is taken, in bytes, without its line end. The official SDKs have the same limit.
pub const MAX_MESSAGE: usize = 32 << 20;
/// Messages of one editor that wait or are being handled, in bytes together. One of the greatest size always fits.
const MAX_BYTES: usize = 48 << 20;

/// A message as the transport received it.
#[derive(Debug, PartialEq, Eq)]
pub enum ReceivedMessage {
    /// The bytes of one message, not checked yet.
    Text(Vec<u8>),
    /// A message longer than [`MAX_MESSAGE`], which was skipped.
    TooLong,
}

/// The room that a message takes until whoever handles it is done.
pub(crate) struct MessageRoom {
    _bytes: Option<OwnedSemaphorePermit>,
}

/// The transport's end of the queue.
#[derive(Clone)]
pub struct MessageSender {
    messages: mpsc::Sender<(ReceivedMessage, MessageRoom)>,
    free: Arc<Semaphore>,
}

/// The door's end of the queue.
pub struct MessageReceiver(mpsc::Receiver<(ReceivedMessage, MessageRoom)>);

/// A queue for so many messages, and for their bytes.
pub fn message_queue(messages: usize) -> (MessageSender, MessageReceiver) {
    let (sender, receiver) = mpsc::channel(messages);
    (MessageSender { messages: sender, free: Arc::new(Semaphore::new(MAX_BYTES)) }, MessageReceiver(receiver))
}

impl MessageSender {
    /// Queues a message; waits for room. False if nobody wants messages any more.
    pub async fn send(&self, message: ReceivedMessage) -> bool {
        let bytes = match &message {
            ReceivedMessage::Text(bytes) => u32::try_from(bytes.len().min(MAX_BYTES)).unwrap_or(u32::MAX),
            ReceivedMessage::TooLong => 0,
        };
        let room = async { self.free.clone().acquire_many_owned(bytes).await.ok() };
        let room = tokio::select! {
            room = room => MessageRoom { _bytes: room },
            () = self.messages.closed() => return false,
        };
        self.messages.send((message, room)).await.is_ok()
    }
}

impl MessageReceiver {
    pub(crate) async fn recv(&mut self) -> Option<(ReceivedMessage, MessageRoom)> {
        self.0.recv().await
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn a_message_waits_until_those_before_it_are_handled() {
        let (sender, mut receiver) = message_queue(64);
        let big = || ReceivedMessage::Text(vec![0; MAX_MESSAGE]);
        assert!(sender.send(big()).await);
        let mut second = pin!(sender.send(big()));
        let is_waiting = poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await;
        assert!(is_waiting, "two of them are more than the budget");
        let (message, room) = receiver.recv().await.unwrap();
        drop(message);
        let is_waiting = poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await;
        assert!(is_waiting, "the first one is still being handled");
        drop(room);
        assert!(second.await);
        drop(receiver);
        assert!(!sender.send(ReceivedMessage::TooLong).await);
    }
}
