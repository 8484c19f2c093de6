//! The scripted model as its clients see it: over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model::{Api, End, ModelServer};

#[test]
fn a_question_is_answered_as_a_stream_or_whole() {
    let model = ModelServer::start();
    let (head, body) = ask(&model, "/v1/messages?beta=true", &question("text", true));
    assert!(head.contains("200 OK") && head.contains("text/event-stream"), "{head}");
    assert!(body.contains("event: message_stop"), "{body}");
    let (_, body) = ask(&model, "/v1/messages", &question("text", false));
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer["content"][0]["text"], "Hello from the scripted model, streaming in several deltas.");
    let [streamed, whole] = model.requests().try_into().unwrap();
    assert_eq!((streamed.api, streamed.end), (Some(Api::Messages), End::Answered(200)));
    assert_eq!((whole.script.as_deref(), whole.end), (Some("text"), End::Answered(200)));
}

#[test]
fn a_provider_that_fails_does_so_in_the_words_of_its_api() {
    let model = ModelServer::start();
    for (script, status, words) in [
        ("err400", 400, "invalid_request_error"),
        ("err429", 429, "rate_limit_error"),
        ("err500", 500, "api_error"),
        ("errstream", 200, "overloaded_error"),
    ] {
        let (head, body) = ask(&model, "/v1/messages", &question(script, true));
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{script}: {head}");
        assert!(body.contains(words), "{script}: {body}");
    }
    // Who tries again without a stream is no luckier.
    let (head, _) = ask(&model, "/v1/messages", &question("errstream", false));
    assert!(head.starts_with("HTTP/1.1 500"), "{head}");
}

#[test]
fn a_cut_stream_ends_in_the_middle() {
    let model = ModelServer::start();
    let (head, body) = ask(&model, "/v1/messages", &question("cut", true));
    assert!(head.contains("200 OK") && body.contains("partial"), "{head}{body}");
    // The chunk of length 0 that ends a body never comes.
    assert!(!body.contains("\r\n0\r\n"), "{body}");
    assert_eq!(model.requests()[0].end, End::Broken);
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed() {
    let model = ModelServer::start();
    for (at, script) in ["slow", "hang"].into_iter().enumerate() {
        let client = send(&model, "/v1/messages", &question(script, true));
        model.requests_when("the question comes", |requests| requests.len() > at).await;
        drop(client);
        model.requests_when("the client is missed", |requests| requests[at].end == End::Left).await;
    }
}

#[test]
fn models_and_tokens_are_told_and_anything_else_is_not_found() {
    let model = ModelServer::start();
    let (_, models) = request(&model, "GET /v1/models", "");
    assert_eq!(serde_json::from_str::<Value>(&models).unwrap()["data"][0]["id"], "scripted-1");
    let (_, tokens) = ask(&model, "/v1beta/models/gemini-2.5-pro:countTokens", &json!({}));
    assert_eq!(serde_json::from_str::<Value>(&tokens).unwrap()["totalTokens"], 42);
    let (head, body) = ask(&model, "/v1/embeddings", &json!({}));
    assert!(head.starts_with("HTTP/1.1 404") && body.contains("POST /v1/embeddings"), "{head}{body}");
}

#[test]
fn a_model_that_is_dropped_takes_its_connections_and_its_port_with_it() {
    let model = ModelServer::start();
    let port: u16 = model.url().rsplit_once(':').unwrap().1.parse().unwrap();
    let mut client = send(&model, "/v1/messages", &question("slow", true));
    drop(model);
    let mut rest = Vec::new();
    // Reset or ended: either way it is over long before the script is.
    let _ = client.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("message_stop"));
    drop(ModelServer::start_with(port, Duration::ZERO));
}

fn question(script: &str, stream: bool) -> Value {
    let tool = json!({ "name": "Bash", "input_schema": { "properties": { "command": {} } } });
    let message = json!({ "role": "user", "content": format!("SCRIPT:{script}") });
    json!({ "model": "m", "stream": stream, "messages": [message], "tools": [tool] })
}

fn ask(model: &ModelServer, path: &str, body: &Value) -> (String, String) {
    answer(send(model, path, body))
}

fn send(model: &ModelServer, path: &str, body: &Value) -> TcpStream {
    open(model, &format!("POST {path}"), &body.to_string())
}

fn request(model: &ModelServer, line: &str, body: &str) -> (String, String) {
    answer(open(model, line, body))
}

fn open(model: &ModelServer, line: &str, body: &str) -> TcpStream {
    let address = model.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = body.len();
    write!(stream, "{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
    stream
}

/// The head and the body of an answer, as far as it came.
fn answer(mut stream: TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    (head.to_owned(), body.to_owned())
}
