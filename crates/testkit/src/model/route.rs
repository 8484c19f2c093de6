//! What a request's method and path ask for. Only the end of the path counts, because clients put prefixes before it.

use axum::http::Method;

use super::dialect::Api;

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// An answer of the model.
    Ask(ModelEndpoint),
    /// Whether the server is there; some clients send a HEAD request first.
    Hello,
    /// The list of models.
    Models,
    /// A count of tokens, which is always the same.
    Tokens,
    /// Anything else, which is answered with 404.
    Unknown,
}

/// An endpoint that lets the model answer, with what its path says about the answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelEndpoint {
    pub(super) api: Api,
    /// Whether the answer is a stream; `None` if the body says so.
    pub(super) streams: Option<bool>,
    /// The name of the model; `None` if the body has it.
    pub(super) model: Option<String>,
}

pub(super) fn route(method: &Method, path: &str) -> Route {
    let ask = |api| Route::Ask(ModelEndpoint { api, streams: None, model: None });
    match *method {
        Method::HEAD => Route::Hello,
        Method::GET if path.ends_with("/models") => Route::Models,
        Method::POST if path.ends_with("/messages/count_tokens") => Route::Tokens,
        Method::POST if path.ends_with(":countTokens") => Route::Tokens,
        Method::POST if path.ends_with("/messages") => ask(Api::Messages),
        Method::POST if path.ends_with("/responses") => ask(Api::Responses),
        Method::POST if path.ends_with("/chat/completions") => ask(Api::Chat),
        Method::POST => gemini(path).unwrap_or(Route::Unknown),
        _ => Route::Unknown,
    }
}

/// Parses Google's paths, which name the model and the kind of answer.
fn gemini(path: &str) -> Option<Route> {
    let (_, call) = path.rsplit_once("/models/")?;
    let (model, verb) = call.split_once(':')?;
    let streams = match verb {
        "streamGenerateContent" => true,
        "generateContent" => false,
        _ => return None,
    };
    Some(Route::Ask(ModelEndpoint { api: Api::Gemini, streams: Some(streams), model: Some(model.to_owned()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_is_follows_from_how_its_path_ends() {
        let ask = |api| Route::Ask(ModelEndpoint { api, streams: None, model: None });
        let gemini = |streams| {
            let model = Some("gemini-2.5-pro".to_owned());
            Route::Ask(ModelEndpoint { api: Api::Gemini, streams: Some(streams), model })
        };
        for (method, path, expected) in [
            (Method::HEAD, "/", Route::Hello),
            (Method::GET, "/v1/models", Route::Models),
            (Method::GET, "/v1/messages", Route::Unknown),
            (Method::POST, "/v1/messages", ask(Api::Messages)),
            (Method::POST, "/v1/messages/count_tokens", Route::Tokens),
            (Method::POST, "/v1/responses", ask(Api::Responses)),
            (Method::POST, "/deep/below/v1/chat/completions", ask(Api::Chat)),
            (Method::POST, "/v1beta/models/gemini-2.5-pro:streamGenerateContent", gemini(true)),
            (Method::POST, "/v1beta/models/gemini-2.5-pro:generateContent", gemini(false)),
            (Method::POST, "/v1beta/models/gemini-2.5-pro:countTokens", Route::Tokens),
            (Method::POST, "/v1beta/models/gemini-2.5-pro:embedContent", Route::Unknown),
            (Method::POST, "/v1/embeddings", Route::Unknown),
        ] {
            assert_eq!(route(&method, path), expected, "{method} {path}");
        }
    }
}
