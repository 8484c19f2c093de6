//! The conversations that the fake runtime keeps, as a test writes them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use parking_lot::{Mutex, MutexGuard};
use roost_engine::{NativeMessage, NativeSession};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::runtime::RuntimeEnv;
use roost_model::time::Timestamp;

/// What the runtime keeps.
#[derive(Default)]
pub struct FakePast(Mutex<State>);

#[derive(Default)]
struct State {
    conversations: BTreeMap<String, Conversation>,
    /// Why nothing can be told.
    broken: Option<String>,
    /// How often a conversation was read.
    reads: usize,
    /// Where it was asked what it keeps.
    asked: Vec<RuntimeEnv>,
}

struct Conversation {
    cwd: String,
    updated_at: Timestamp,
    said: Vec<TranscriptMessage>,
    /// Changes with every change.
    stamp: u64,
}

impl FakePast {
    /// Keeps a conversation: prompts and answers in turn. Those of a later minute changed later.
    pub fn keep(&self, cwd: &Path, id: &str, minute: i64, said: &[&str]) {
        let conversation = Conversation {
            cwd: cwd.display().to_string(),
            updated_at: Timestamp::from_millis(minute * 60_000),
            said: said.iter().enumerate().map(|(at, text)| message(at, text)).collect(),
            stamp: 0,
        };
        self.state().conversations.insert(id.into(), conversation);
    }

    /// The conversation goes on.
    pub fn add(&self, id: &str, text: &str) {
        self.change(id, |said| said.push(message(said.len(), text)));
    }

    /// Only the first messages of the conversation are left.
    pub fn cut(&self, id: &str, left: usize) {
        self.change(id, |said| said.truncate(left));
    }

    /// From now on nothing can be told.
    pub fn break_down(&self, why: &str) {
        self.state().broken = Some(why.into());
    }

    /// How often a conversation was read.
    pub fn reads(&self) -> usize {
        self.state().reads
    }

    /// The environments in which it was asked what it keeps.
    pub fn asked(&self) -> Vec<RuntimeEnv> {
        self.state().asked.clone()
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Vec<TranscriptMessage>)) {
        let mut state = self.state();
        let conversation = state.conversations.get_mut(id).expect("it is kept");
        change(&mut conversation.said);
        conversation.stamp += 1;
    }

    pub(super) fn sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        let mut state = self.state();
        state.asked.push(env.clone());
        if let Some(why) = &state.broken {
            return Err(io::Error::other(why.clone()));
        }
        let here = state.conversations.iter().filter(|(_, one)| one.cwd == env.cwd);
        let session = |(id, one): (&String, &Conversation)| NativeSession {
            id: id.as_str().into(),
            title: one.said.first().map(TranscriptMessage::text),
            updated_at: one.updated_at,
        };
        Ok(here.map(session).collect())
    }

    pub(super) fn messages(&self, id: &str) -> Option<Vec<NativeMessage>> {
        let mut state = self.state();
        state.reads += 1;
        let said = state.conversations.get(id)?.said.iter().cloned();
        Some(said.map(|message| NativeMessage { at: None, message }).collect())
    }

    pub(super) fn stamp(&self, id: &str) -> Option<u64> {
        self.state().conversations.get(id).map(|conversation| conversation.stamp)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

fn message(at: usize, text: &str) -> TranscriptMessage {
    let role = if at.is_multiple_of(2) { TranscriptRole::User } else { TranscriptRole::Assistant };
    TranscriptMessage { role, content: vec![TranscriptContentBlock::Text { text: text.into() }] }
}
