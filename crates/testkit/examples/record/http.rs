//! A proxy before an agent that is an HTTP server: it writes down requests, responses and the events of its stream.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::between::Recording;

/// The address that a server reports on its stdout; `None` for any other line.
pub(super) fn server_address(line: &str) -> Option<SocketAddr> {
    line.split_once("listening on http://")?.1.trim().parse().ok()
}

/// Starts a proxy to this server, which ends with the process, and returns the proxy's address.
pub(super) fn start(server: SocketAddr, recording: Arc<Recording>) -> io::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let router = Router::new().fallback(answer).with_state((server, recording));
    thread::spawn(move || {
        runtime.block_on(async { axum::serve(TcpListener::from_std(listener)?, router).await }).inspect_err(|error| {
            eprintln!("the recording proxy ended: {error}");
        })
    });
    Ok(address)
}

async fn answer(State((server, recording)): State<(SocketAddr, Arc<Recording>)>, request: Request) -> Response {
    let answer = forward(server, recording, request).await;
    answer.unwrap_or_else(|error| (StatusCode::BAD_GATEWAY, error.to_string()).into_response())
}

async fn forward(
    server: SocketAddr,
    recording: Arc<Recording>,
    request: Request,
) -> Result<Response, Box<dyn Error + Send + Sync>> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await?;
    recording.write(
        "in",
        &match head.method {
            Method::GET => format!("GET {}", head.uri),
            _ if body.is_empty() => format!("{} {} null", head.method, head.uri),
            _ => format!("{} {} {}", head.method, head.uri, String::from_utf8_lossy(&body)),
        },
    )?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(TcpStream::connect(server).await?)).await?;
    // Ends with the response, or with the process.
    tokio::spawn(connection);
    let (head, body) = sender.send_request(Request::from_parts(head, Body::from(body))).await?.into_parts();
    if head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        let mut unread = Vec::new();
        let body = body.map_frame(move |frame| {
            if let Some(data) = frame.data_ref() {
                unread.extend_from_slice(data);
            }
            while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = unread.drain(..=end).collect();
                if let Some(event) = String::from_utf8_lossy(&line).trim_end().strip_prefix("data: ")
                    && let Err(error) = recording.write("out", &format!("sse {event}"))
                {
                    eprintln!("an event was not recorded: {error}");
                }
            }
            frame
        });
        return Ok(Response::from_parts(head, Body::new(body)));
    }
    let body = body.collect().await?.to_bytes();
    recording.write("out", &format!("{} {}", head.status.as_u16(), String::from_utf8_lossy(&body)))?;
    Ok(Response::from_parts(head, Body::from(body)))
}
