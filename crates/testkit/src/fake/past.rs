//! The fake runtime's own history of conversations, which a test fills.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use parking_lot::{Mutex, MutexGuard};
use roost_engine::{NativeMessage, NativeSession};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::runtime::RuntimeEnv;
use roost_model::time::Timestamp;

/// The conversations of a fake runtime that were begun outside of Roost.
#[derive(Default)]
pub struct FakePast(Mutex<FakePastState>);

#[derive(Default)]
struct FakePastState {
    conversations: BTreeMap<String, Conversation>,
    /// If set, every listing fails with this message.
    broken: Option<String>,
    /// How often the messages of any conversation were read.
    reads: usize,
    /// The environment of every listing so far.
    listings: Vec<RuntimeEnv>,
}

struct Conversation {
    cwd: String,
    updated_at: Timestamp,
    messages: Vec<TranscriptMessage>,
    /// Increased by every change of the messages.
    stamp: u64,
}

impl FakePast {
    /// Adds a conversation of alternating prompts and answers, last changed at this minute after the epoch.
    pub fn keep(&self, cwd: &Path, id: &str, minute: i64, messages: &[&str]) {
        let conversation = Conversation {
            cwd: cwd.display().to_string(),
            updated_at: Timestamp::from_millis(minute * 60_000),
            messages: messages.iter().enumerate().map(|(at, text)| message(at, text)).collect(),
            stamp: 0,
        };
        self.state().conversations.insert(id.into(), conversation);
    }

    /// Appends a message; prompts and answers alternate.
    pub fn add(&self, id: &str, text: &str) {
        self.change(id, |messages| messages.push(message(messages.len(), text)));
    }

    /// Truncates a conversation to its first messages.
    pub fn cut(&self, id: &str, left: usize) {
        self.change(id, |messages| messages.truncate(left));
    }

    /// Lets every listing from now on fail with this message.
    pub fn break_down(&self, why: &str) {
        self.state().broken = Some(why.into());
    }

    /// How often the messages of any conversation were read so far.
    pub fn reads(&self) -> usize {
        self.state().reads
    }

    /// The environment of every listing so far, oldest first.
    pub fn asked(&self) -> Vec<RuntimeEnv> {
        self.state().listings.clone()
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Vec<TranscriptMessage>)) {
        let mut state = self.state();
        let conversation = state.conversations.get_mut(id).expect("it is kept");
        change(&mut conversation.messages);
        conversation.stamp += 1;
    }

    pub(super) fn sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        let mut state = self.state();
        state.listings.push(env.clone());
        if let Some(why) = &state.broken {
            return Err(io::Error::other(why.clone()));
        }
        let here = state.conversations.iter().filter(|(_, one)| one.cwd == env.cwd);
        let session = |(id, one): (&String, &Conversation)| NativeSession {
            id: id.as_str().into(),
            title: one.messages.first().map(TranscriptMessage::text),
            updated_at: one.updated_at,
        };
        Ok(here.map(session).collect())
    }

    pub(super) fn messages(&self, id: &str) -> Option<Vec<NativeMessage>> {
        let mut state = self.state();
        state.reads += 1;
        let messages = state.conversations.get(id)?.messages.iter().cloned();
        Some(messages.map(|message| NativeMessage { at: None, message }).collect())
    }

    pub(super) fn stamp(&self, id: &str) -> Option<u64> {
        self.state().conversations.get(id).map(|conversation| conversation.stamp)
    }

    fn state(&self) -> MutexGuard<'_, FakePastState> {
        self.0.lock()
    }
}

fn message(at: usize, text: &str) -> TranscriptMessage {
    let role = if at.is_multiple_of(2) { TranscriptRole::User } else { TranscriptRole::Assistant };
    TranscriptMessage { role, content: vec![TranscriptContentBlock::Text { text: text.into() }] }
}
