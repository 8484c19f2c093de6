//! Acts that try how much a host can take.

use std::io::Write;

use super::super::output;
use super::{DemoTurn, Interrupt};
use agent_client_protocol::v1::schema::SessionNotification;

const BLOCK_LINES: u64 = 256;
/// Blocks of long lines end earlier, so that memory stays small.
const BLOCK_BYTES: usize = 128 << 10;
const MAX_DIGITS: usize = 9;

/// Sends chunks of `size` bytes that begin with their own number, so that a reader can tell
/// whether one was lost, as fast as stdout takes them.
pub(super) async fn flood(turn: &DemoTurn, chunks: u64, size: usize) -> Result<(), Interrupt> {
    let digits = size.min(MAX_DIGITS);
    // All lines are the same but for the number, so the line is encoded once and cut there.
    let placeholder = "#".repeat(digits);
    let text = format!("{placeholder}{}", filler(size - digits));
    let update = turn.chunk(text);
    let line = output::encode(SessionNotification::new(turn.session.id.clone(), update))?;
    let line = String::from_utf8_lossy(&line);
    let (head, tail) = line.split_once(&placeholder).unwrap_or_default();

    let numbers = 10_u64.pow(digits as u32);
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    for number in 0..chunks {
        block.extend_from_slice(head.as_bytes());
        if digits > 0 {
            write!(block, "{:0digits$}", number % numbers)?;
        }
        block.extend_from_slice(tail.as_bytes());
        turn.count(size);
        if (number + 1) % BLOCK_LINES == 0 || block.len() >= BLOCK_BYTES {
            let next = Vec::with_capacity(block.len());
            let full = std::mem::replace(&mut block, next);
            turn.demo.output.lines(full).await?;
        }
    }
    Ok(turn.demo.output.lines(block).await?)
}

/// Sends one chunk of `bytes` bytes in a single line.
pub(super) async fn big_line(turn: &DemoTurn, bytes: usize) -> Result<(), Interrupt> {
    turn.say(filler(bytes)).await
}

/// Text of exactly this many bytes that ends with a newline.
fn filler(bytes: usize) -> String {
    let mut text = "x".repeat(bytes);
    if text.pop().is_some() {
        text.push('\n');
    }
    text
}
