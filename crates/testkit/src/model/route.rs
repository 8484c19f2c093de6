//! What a path asks for; clients put what they like before it.

use axum::http::Method;

use super::dialect::Api;

/// What a request is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A question to the model.
    Ask(Question),
    /// Whether anybody is there.
    Hello,
    /// Which models there are.
    Models,
    /// How many tokens a question has.
    Tokens,
    /// Nothing that a model knows.
    Unknown,
}

/// What the path of a question says about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) api: Api,
    /// Whether the answer is a stream, where the path says so.
    pub(super) streams: Option<bool>,
    /// The model, where the path says so.
    pub(super) model: Option<String>,
}

pub(super) fn route(method: &Method, path: &str) -> Route {
    let ask = |api| Route::Ask(Question { api, streams: None, model: None });
    match *method {
        Method::HEAD => Route::Hello,
        Method::GET if path.ends_with("/models") => Route::Models,
        Method::POST if path.ends_with("/messages/count_tokens") => Route::Tokens,
        Method::POST if path.ends_with("/messages") => ask(Api::Messages),
        _ => Route::Unknown,
    }
}
