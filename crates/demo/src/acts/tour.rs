//! The tour that a newcomer sees first.

use agent_client_protocol::v1::schema::{SessionUpdate, UsageUpdate};

use super::super::keyword;
use super::tools::{WriteOutcome, write_file};
use super::{DemoTurn, Interrupt};

const FILE: &str = "hello-roost.txt";
const FILE_TEXT: &str = "Hello from Roost!\nThe demo agent wrote this file after you allowed it.\n";
const CONTEXT_SIZE: u64 = 200_000;

pub(super) async fn tour(turn: &DemoTurn) -> Result<(), Interrupt> {
    stream(
        turn,
        "Welcome to Roost! Roost hosts coding agents on your machine and keeps one durable \
         record of everything they do. I am its demo agent: no account, no network and no model \
         behind me, so you can try Roost right away.\n\n\
         Agents ask before they change something. Let me propose a small file.\n\n",
    )
    .await?;
    let outcome = match write_file(turn, FILE, FILE_TEXT).await? {
        WriteOutcome::Done => format!("Thank you! I wrote `{FILE}`; have a look at it.\n\n"),
        WriteOutcome::Refused(_) => format!(
            "No problem: nothing was written. To let me create `{FILE}`, approve it when asked, \
             or start me with `roost run --permission-mode yolo`.\n\n"
        ),
        WriteOutcome::Failed(error) => {
            format!("You allowed it, but `{FILE}` could not be written: {error}.\n\n")
        }
    };
    stream(turn, &outcome).await?;
    stream(
        turn,
        &format!(
            "That was the tour. Begin a prompt with one of these words to see one thing at a \
             time: {}.\n",
            keyword::names()
        ),
    )
    .await?;
    let used = turn.totals.tokens + turn.usage().total();
    let usage = UsageUpdate::new(used, CONTEXT_SIZE);
    turn.update(SessionUpdate::UsageUpdate(usage)).await
}

/// Streams a text a few words at a time, at a pace that can be seen.
async fn stream(turn: &DemoTurn, text: &str) -> Result<(), Interrupt> {
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    for few in words.chunks(6) {
        turn.say(few.concat()).await?;
        turn.pause(50).await;
    }
    Ok(())
}
