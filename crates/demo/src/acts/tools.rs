//! Acts that announce tool calls, ask for permission and run them.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{Diff, ToolCallContent, ToolCallLocation, ToolKind};
use futures::future::try_join_all;
use serde_json::json;

use super::super::tool::{OpenCall, PermissionAnswer, Refusal};
use super::{DemoTurn, Interrupt};

pub(super) const REFUSED: &str = "The user did not allow this.";
/// What a long output shows while it is still being printed.
const PREVIEW_LINES: usize = 20;

/// The result of a tool call that writes a file.
pub(super) enum WriteOutcome {
    Done,
    Refused(Refusal),
    Failed(io::Error),
}

pub(super) async fn edit(turn: &DemoTurn, name: &str) -> Result<(), Interrupt> {
    if Path::new(name).file_name() != Some(name.as_ref()) {
        let text = format!("`{name}` is not a plain file name, so nothing was written.");
        return turn.say(text).await;
    }
    let text = match write_file(turn, name, "Written by the Roost demo agent.\n").await? {
        WriteOutcome::Done => format!("I wrote `{name}`."),
        WriteOutcome::Refused(refusal) => format!("{}, so `{name}` was not written.", refusal.sentence()),
        WriteOutcome::Failed(error) => format!("`{name}` could not be written: {error}."),
    };
    turn.say(text).await
}

/// Writes a file in the session's directory through a tool call that needs approval.
pub(super) async fn write_file(turn: &DemoTurn, name: &str, text: &'static str) -> Result<WriteOutcome, Interrupt> {
    let path = turn.session.cwd.join(name);
    let old_text = blocking({
        let path = path.clone();
        move || std::fs::read_to_string(path)
    });
    let diff = Diff::new(&path, text).old_text(old_text.await.ok());
    let call = turn
        .tool_call(format!("Write {name}"), ToolKind::Edit)
        .content(vec![ToolCallContent::from(diff.clone())])
        .locations(vec![ToolCallLocation::new(&path)])
        .raw_input(json!({ "path": path, "content": text }));
    let call = turn.announce("demo.write", call).await?;
    if let PermissionAnswer::Refused(refusal) = call.permission().await? {
        call.fail(REFUSED).await?;
        return Ok(WriteOutcome::Refused(refusal));
    }
    call.start().await?;
    match blocking(move || std::fs::write(path, text)).await {
        Ok(()) => {
            let bytes = text.len();
            call.complete(diff, json!({ "bytesWritten": bytes })).await?;
            Ok(WriteOutcome::Done)
        }
        Err(error) => {
            call.fail(&error.to_string()).await?;
            Ok(WriteOutcome::Failed(error))
        }
    }
}

pub(super) async fn parallel(turn: &DemoTurn, calls: usize) -> Result<(), Interrupt> {
    let mut announced = Vec::with_capacity(calls);
    for number in 1..=calls {
        let call = turn.tool_call(format!("Count to {number}"), ToolKind::Execute).raw_input(json!({ "to": number }));
        announced.push(turn.announce("demo.count", call).await?);
    }
    let counting = announced.into_iter().zip(1..);
    let counted = try_join_all(counting.map(|(call, to)| count(turn, call, to))).await?;
    let run = counted.iter().filter(|counted| **counted).count();
    let refused = calls - run;
    turn.say(format!("{run} tool calls ran, {refused} were not allowed.")).await
}

/// Asks for permission and counts; false if it was refused.
async fn count(turn: &DemoTurn, call: OpenCall<'_>, to: u64) -> Result<bool, Interrupt> {
    if let PermissionAnswer::Refused(_) = call.permission().await? {
        call.fail(REFUSED).await?;
        return Ok(false);
    }
    call.start().await?;
    // Neighbours take different times, so that calls do not end in the order they began.
    turn.pause(10 * (to % 3)).await;
    call.show("1").await?;
    turn.pause(10 * ((to + 1) % 3)).await;
    let numbers: Vec<String> = (1..=to).map(|number| number.to_string()).collect();
    call.complete(numbers.join(" "), json!({ "counted": to })).await?;
    Ok(true)
}

pub(super) async fn out(turn: &DemoTurn, lines: usize) -> Result<(), Interrupt> {
    let call = turn.tool_call(format!("Print {lines} lines"), ToolKind::Execute).raw_input(json!({ "lines": lines }));
    let call = turn.announce("demo.print", call).await?;
    if let PermissionAnswer::Refused(refusal) = call.permission().await? {
        call.fail(REFUSED).await?;
        return turn.say(format!("{}, so nothing was printed.", refusal.sentence())).await;
    }
    call.start().await?;
    // Every update replaces the one before, so the whole text is sent only once, at the end.
    if lines > PREVIEW_LINES {
        call.show(printed(PREVIEW_LINES)).await?;
    }
    let text = printed(lines);
    call.complete(text.clone(), json!({ "stdout": text, "exitCode": 0 })).await?;
    turn.say(format!("The tool printed {lines} lines.")).await
}

fn printed(lines: usize) -> String {
    (1..=lines).fold(String::new(), |mut text, line| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "line {line} of the demo output");
        text
    })
}

/// Reads the session's directory without asking, as many runtimes do.
pub(super) async fn unasked(turn: &DemoTurn) -> Result<(), Interrupt> {
    let cwd = turn.session.cwd.clone();
    let call = turn
        .tool_call("List the working directory", ToolKind::Read)
        .locations(vec![ToolCallLocation::new(&cwd)])
        .raw_input(json!({ "path": cwd }));
    let call = turn.announce("demo.list", call).await?;
    call.start().await?;
    match blocking(move || names_in(cwd)).await {
        Ok(names) => {
            let found = names.len();
            call.complete(names.join("\n"), json!({ "names": names })).await?;
            turn.say(format!("The working directory has {found} entries.")).await
        }
        Err(error) => {
            call.fail(&error.to_string()).await?;
            turn.say(format!("The working directory cannot be read: {error}.")).await
        }
    }
}

fn names_in(directory: PathBuf) -> io::Result<Vec<String>> {
    let mut names = std::fs::read_dir(directory)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await?
}
