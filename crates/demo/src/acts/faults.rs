//! Acts that misbehave on purpose, each in the way of some real agent.

use std::io;
use std::process::Stdio;
use std::sync::atomic::Ordering;

use agent_client_protocol::v1::schema::ToolKind;
use agent_client_protocol::{Error, ErrorCode};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::super::output;
use super::{DemoTurn, Interrupt};

/// What a Rust process exits with after a panic.
const CRASHED: i32 = 101;

pub(super) async fn fail(turn: &DemoTurn) -> Result<(), Interrupt> {
    turn.say("This turn is going to fail.").await?;
    let error = Error::new(ErrorCode::INTERNAL_ERROR, "the demo agent failed because the prompt asked for it");
    Err(Interrupt::Failed(error.data(json!({ "keyword": "fail", "retryable": false }))))
}

pub(super) async fn crash(turn: &DemoTurn) -> Result<(), Interrupt> {
    turn.say("I am about to crash.").await?;
    let call = turn.tool_call("A tool that never ends", ToolKind::Execute).raw_input(json!({}));
    turn.announce("demo.crash", call).await?.start().await?;
    turn.demo.output.flush().await?;
    eprintln!("the demo agent crashes because the prompt asked for it");
    std::process::exit(CRASHED)
}

pub(super) async fn exit(turn: &DemoTurn) -> Result<(), Interrupt> {
    turn.say("I leave without an answer.").await?;
    turn.demo.output.flush().await?;
    std::process::exit(0)
}

/// Leaves a process behind that no longer shares its session, its group or its parent with us.
pub(super) async fn orphan(turn: &DemoTurn) -> Result<(), Interrupt> {
    let shell = Command::new("sh")
        .args(["-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .await?;
    let pid = String::from_utf8_lossy(&shell.stdout);
    turn.say(format!("I left process {} behind.", pid.trim())).await
}

pub(super) async fn noise(turn: &DemoTurn) -> Result<(), Interrupt> {
    eprintln!("noise on stderr: a warning that nobody asked for");
    let session = &*turn.session.id.0;
    let completed = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "noise-call", "status": "completed",
    });
    let lines = [
        b"plain text on stdout, like a banner\n".to_vec(),
        b"invalid UTF-8: \xff\xfe\xc3(\n".to_vec(),
        b"{\"level\":\"info\",\"message\":\"JSON, but not JSON-RPC\"}\n".to_vec(),
        b"42\n\n".to_vec(),
        update(session, json!({ "sessionUpdate": "demo_unknown_kind", "value": 1 }))?,
        update(
            "no-such-session",
            json!({
                "sessionUpdate": "agent_message_chunk",
                "content": { "type": "text", "text": "for an unknown session" },
            }),
        )?,
        update(
            session,
            json!({
                "sessionUpdate": "tool_call_update", "toolCallId": "never-announced",
                "status": "completed",
            }),
        )?,
        update(
            session,
            json!({
                "sessionUpdate": "tool_call", "toolCallId": "noise-call", "title": "Noise",
                "kind": "other", "status": "in_progress",
            }),
        )?,
        update(session, completed.clone())?,
        update(session, completed)?,
    ];
    turn.demo.output.lines(lines.concat()).await?;
    turn.say("The noise is over.").await
}

fn update(session: &str, update: Value) -> io::Result<Vec<u8>> {
    output::encode(json!({ "sessionId": session, "update": update }))
}

pub(super) async fn stubborn(turn: &DemoTurn) -> Result<(), Interrupt> {
    // Once installed, the handler replaces the default action until the process ends.
    let _ = signal(SignalKind::terminate())?;
    turn.demo.stubborn.store(true, Ordering::Relaxed);
    turn.say("From now on only SIGKILL ends me.").await?;
    std::future::pending().await
}
