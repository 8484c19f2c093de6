//! The stdio transport: one JSON-RPC message per line, each direction on a thread of its own.
//!
//! Threads, because stdin and stdout may be anything (a pipe, a socket, a file), and a read that never returns must not
//! keep the program from ending.

use std::io::{self, BufRead, BufReader, Read, Write};

use futures::executor::block_on;
use tokio::sync::mpsc;

use crate::message_queue::{MAX_MESSAGE, MessageSender, ReceivedMessage};

/// Messages that are already waiting are written together, up to about this many bytes.
const BATCH: usize = 64 << 10;

/// Reads messages until the input ends or nobody wants them any more. What stands after the last line end is no message.
pub fn read_messages(input: impl Read, messages: &MessageSender) -> io::Result<()> {
    let mut input = BufReader::with_capacity(BATCH, input);
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(MAX_MESSAGE as u64 + 1).read_until(b'\n', &mut line)?;
        let message = match line.pop() {
            None => return Ok(()),
            Some(b'\n') if line.trim_ascii().is_empty() => continue,
            Some(b'\n') => ReceivedMessage::Text(line),
            Some(_) if read > MAX_MESSAGE => {
                skip_line(&mut input)?;
                ReceivedMessage::TooLong
            }
            Some(_) => {
                tracing::warn!(bytes = read, "The input ended in the middle of a line, which is dropped.");
                return Ok(());
            }
        };
        if !block_on(messages.send(message)) {
            return Ok(());
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (used, is_end) = (end.map_or(buffer.len(), |at| at + 1), end.is_some() || buffer.is_empty());
        input.consume(used);
        if is_end {
            return Ok(());
        }
    }
}

/// Writes messages, each as one line, until there are no more. Nothing stays in a buffer while no message waits.
pub fn write_messages(mut output: impl Write, mut messages: mpsc::Receiver<String>) -> io::Result<()> {
    let mut lines = Vec::new();
    while let Some(message) = messages.blocking_recv() {
        lines.clear();
        let mut next = Some(message);
        while let Some(message) = next {
            lines.extend_from_slice(message.as_bytes());
            lines.push(b'\n');
            next = if lines.len() < BATCH { messages.try_recv().ok() } else { None };
        }
        output.write_all(&lines)?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_queue::message_queue;

    fn read(input: &[u8]) -> Vec<ReceivedMessage> {
        let (send, mut received) = message_queue(16);
        let input = input.to_vec();
        // Beside the reader, because long messages do not wait all together.
        let reading = std::thread::spawn(move || read_messages(&*input, &send).unwrap());
        let messages = std::iter::from_fn(|| block_on(received.recv())).map(|(message, _)| message).collect();
        reading.join().unwrap();
        messages
    }

    #[test]
    fn lines_are_messages_and_what_follows_the_last_line_end_is_not() {
        let text = |text: &str| ReceivedMessage::Text(text.into());
        for (input, expected) in
            [("", vec![]), ("a\nb\n", vec![text("a"), text("b")]), ("a\r\n\n  \nb", vec![text("a\r")]), ("a", vec![])]
        {
            assert_eq!(read(input.as_bytes()), expected, "{input:?}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let (longest, longer) = ("x".repeat(MAX_MESSAGE), "x".repeat(MAX_MESSAGE + 1));
        let read = read(format!("{longest}\n{longer}\nnext\n{longer}").as_bytes());
        let kinds: Vec<_> = read.iter().map(|message| matches!(message, ReceivedMessage::Text(_))).collect();
        assert_eq!(kinds, [true, false, true, false]);
        assert_eq!(read[2], ReceivedMessage::Text(b"next".into()));
    }

    #[test]
    fn waiting_messages_are_written_in_order_one_to_a_line() {
        let (send, messages) = mpsc::channel(4);
        for message in ["a", "b", "c"] {
            send.blocking_send(message.to_owned()).unwrap();
        }
        drop(send);
        let mut output = Vec::new();
        write_messages(&mut output, messages).unwrap();
        assert_eq!(output, b"a\nb\nc\n");
    }
}
