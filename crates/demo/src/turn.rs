//! One turn of the demo agent: the acts stream through it, and it sends the answer to the prompt.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentChunk, MessageId, Meta, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
    ToolCallId,
};
use agent_client_protocol::{Client, Error, RequestCancellation};
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Demo;
use super::acts;
use super::keyword::Keyword;
use super::prompt::Prompt;
use super::session::{Session, SessionTotals};

/// The usual estimate for English text; the demo has no tokenizer.
const CHARS_PER_TOKEN: u64 = 4;

/// The running turn of a session. Acts report everything through it.
pub(super) struct DemoTurn {
    pub(super) demo: Arc<Demo>,
    pub(super) session: Arc<Session>,
    pub(super) client: ConnectionTo<Client>,
    pub(super) totals: SessionTotals,
    /// Announced tool calls that are neither completed nor failed.
    pub(super) open_calls: Mutex<Vec<ToolCallId>>,
    /// Tool calls announced so far.
    pub(super) calls: AtomicU64,
    prompt: Prompt,
    stop: CancellationToken,
    chars_said: AtomicU64,
}

/// Why an act ended early.
pub(super) enum Interrupt {
    Cancelled,
    Failed(Error),
}

impl From<io::Error> for Interrupt {
    fn from(error: io::Error) -> Self {
        Self::Failed(Error::into_internal_error(error))
    }
}

/// Tokens of one turn, estimated from characters.
pub(super) struct Usage {
    input: u64,
    output: u64,
}

impl Usage {
    pub(super) fn total(&self) -> u64 {
        self.input + self.output
    }
}

impl DemoTurn {
    pub(super) fn begin(
        demo: &Arc<Demo>,
        request: &PromptRequest,
        client: ConnectionTo<Client>,
    ) -> Result<Self, Error> {
        let session = demo.sessions.get(&request.session_id)?;
        let prompt = Prompt::read(&request.prompt);
        let (stop, totals) = session.begin(&prompt)?;
        Ok(Self {
            demo: demo.clone(),
            session,
            client,
            totals,
            open_calls: Mutex::default(),
            calls: AtomicU64::new(0),
            prompt,
            stop,
            chars_said: AtomicU64::new(0),
        })
    }

    /// Plays the turn to its end, which a cancel may bring forward.
    pub(super) async fn run(self, request: RequestCancellation) -> Result<PromptResponse, Error> {
        let cancelled = async {
            if self.prompt.keyword == Keyword::Stubborn {
                std::future::pending::<()>().await;
            }
            tokio::select! {
                () = self.stop.cancelled() => (),
                () = request.cancelled() => (),
            }
        };
        let played = tokio::select! {
            biased;
            () = cancelled => Err(Interrupt::Cancelled),
            played = acts::play(&self, &self.prompt.keyword) => played,
        };
        if played.is_err() {
            // This fails only if stdout is gone, and then nobody is left to be told.
            let _ = self.fail_open_calls().await;
        }
        let stop_reason = match played {
            Ok(()) => Ok(StopReason::EndTurn),
            Err(Interrupt::Cancelled) => Ok(StopReason::Cancelled),
            Err(Interrupt::Failed(error)) => Err(error),
        };
        let usage = self.usage();
        self.session.end(usage.total());
        Ok(PromptResponse::new(stop_reason?).meta(Meta::from_iter([(
            // The protocol's own field for this is still unstable.
            "usage".to_owned(),
            json!({
                "inputTokens": usage.input,
                "outputTokens": usage.output,
                "totalTokens": usage.total(),
            }),
        )])))
    }

    pub(super) async fn update(&self, update: SessionUpdate) -> Result<(), Interrupt> {
        let notification = SessionNotification::new(self.session.id.clone(), update);
        Ok(self.demo.output.notify(&notification).await?)
    }

    /// Streams one piece of the answer.
    pub(super) async fn say(&self, text: impl Into<String>) -> Result<(), Interrupt> {
        let text = text.into();
        self.count(text.chars().count());
        self.update(self.chunk(text)).await
    }

    /// One piece of the answer; all pieces of a turn are one message.
    pub(super) fn chunk(&self, text: String) -> SessionUpdate {
        let id = MessageId::from(format!("message-{}", self.totals.prompts));
        SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into()).message_id(id))
    }

    /// Streams one piece of reasoning.
    pub(super) async fn think(&self, text: &str) -> Result<(), Interrupt> {
        self.count(text.chars().count());
        let id = MessageId::from(format!("thought-{}", self.totals.prompts));
        let chunk = ContentChunk::new(text.into()).message_id(id);
        self.update(SessionUpdate::AgentThoughtChunk(chunk)).await
    }

    /// Waits a moment, so that a person sees things happen one after the other.
    pub(super) async fn pause(&self, milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    pub(super) fn usage(&self) -> Usage {
        Usage {
            input: self.prompt.chars.div_ceil(CHARS_PER_TOKEN),
            output: self.chars_said.load(Ordering::Relaxed).div_ceil(CHARS_PER_TOKEN),
        }
    }

    /// Adds characters of the answer to the usage.
    pub(super) fn count(&self, chars: usize) {
        self.chars_said.fetch_add(chars as u64, Ordering::Relaxed);
    }

    async fn fail_open_calls(&self) -> Result<(), Interrupt> {
        let open = std::mem::take(&mut *self.open_calls.lock());
        for id in open {
            self.fail_call(id, "The turn ended before this call did.").await?;
        }
        Ok(())
    }
}
