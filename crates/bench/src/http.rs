//! One HTTP request at a time, to a server on this machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::Outcome;

/// Posts JSON and returns the JSON that is answered.
pub(crate) fn post(address: SocketAddr, path: &str, token: Option<&str>, body: &Value) -> Outcome<Value> {
    let body = body.to_string();
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n{authorization}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    answer(stream, path)
}

/// Gets the JSON at a path.
pub(crate) fn get(address: SocketAddr, path: &str, token: &str) -> Outcome<Value> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )?;
    answer(stream, path)
}

fn answer(mut stream: TcpStream, path: &str) -> Outcome<Value> {
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let json = response.find("\r\n\r\n").and_then(|head| {
        let body = &response[head..];
        serde_json::from_str(&body[body.find('{')?..=body.rfind('}')?]).ok()
    });
    Ok(json.ok_or_else(|| format!("{path} was answered with: {response}"))?)
}
