//! What every API is here: a way to say what was asked and what is answered.

use serde_json::Value;

use super::asked::Asked;
use super::chat::Chat;
use super::frame::{Frame, Ids};
use super::gemini::Gemini;
use super::messages::Messages;
use super::responses::Responses;
use super::script::Act;

/// An API of a provider of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
    /// Google's generateContent.
    Gemini,
}

impl Api {
    pub(super) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Messages => &Messages,
            Self::Responses => &Responses,
            Self::Chat => &Chat,
            Self::Gemini => &Gemini,
        }
    }
}

/// A pure translation of one API.
pub(super) trait Dialect: Sync {
    /// What a request asks.
    fn asked(&self, body: &Value) -> Asked;

    /// An answer as one document.
    fn whole(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Value;

    /// An answer as a stream.
    fn stream(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Vec<Frame>;

    /// The beginning of an answer, and as its last event the error that ends it.
    fn failing(&self, model: &str, ids: &mut Ids) -> Vec<Frame>;

    /// What the provider says with an HTTP status that refuses.
    fn refusal(&self, status: u16) -> Value;
}
