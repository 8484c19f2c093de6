//! An agent that does what its prompts say.

use std::mem;

use testkit::facts;
use testkit::fake::{EngineMessage, FakeAdapter, FakeRuntimes, FakeTask};
use tokio::task::JoinSet;

use crate::kit::Door;

/// Plays a door's agents: they `ask ID` for leave, ask a `question ID`, `wait` to be told something or say something
/// `long`, as they are prompted; anything else they answer. They are there as long as what is given here.
pub(crate) fn play(door: &mut Door) -> JoinSet<()> {
    let mut player = JoinSet::new();
    player.spawn(all(mem::replace(door.runtimes(), FakeAdapter::new().1)));
    player
}

async fn all(mut runtimes: FakeRuntimes) {
    let mut sessions = JoinSet::new();
    while let Some(opening) = runtimes.next().await {
        let mut session = opening.accept();
        sessions.spawn(async move {
            while let Some(mut task) = session.next_task().await {
                act(&mut task).await;
                task.finish().await;
            }
        });
    }
}

async fn act(task: &mut FakeTask) {
    let prompt = task.prompt();
    match prompt.split_once(' ').unwrap_or((&prompt, "")) {
        ("ask", id) => {
            task.say_all([facts::requested(id), facts::asks(id)]).await;
            answered(task).await;
            task.say_all([facts::started(id), facts::completed(id)]).await;
        }
        ("question", id) => {
            task.say(facts::question(id)).await;
            answered(task).await;
        }
        ("wait", _) => answered(task).await,
        ("long", _) => task.say(facts::output(&facts::noise(3 << 20))).await,
        _ => task.say(facts::output("as you say")).await,
    }
}

/// Waits for what a decision, an answer or a stop brings; that a prompt waits changes nothing for this agent.
async fn answered(task: &mut FakeTask) {
    while task.next_message().await == EngineMessage::PromptWaiting {}
}
