//! Acts that answer, think, plan and ask, without any tool.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::atomic;
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationAction, ElicitationContentValue, ElicitationFormMode, ElicitationSchema,
    ElicitationSessionScope, EnumOption, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionUpdate,
    StringPropertySchema,
};
use tokio::time::Instant;

use super::{DemoTurn, Interrupt};

pub(super) async fn hello(turn: &DemoTurn) -> Result<(), Interrupt> {
    turn.say("Hello from ").await?;
    turn.say("the demo agent.").await
}

pub(super) async fn think(turn: &DemoTurn) -> Result<(), Interrupt> {
    for thought in [
        "The user wants to see me think. ",
        "Thoughts are streamed apart from the answer. ",
        "That is enough thinking.",
    ] {
        turn.think(thought).await?;
        turn.pause(50).await;
    }
    turn.say("I thought about it: thinking works.").await
}

pub(super) async fn plan(turn: &DemoTurn) -> Result<(), Interrupt> {
    let steps = ["Look around", "Do the work", "Check the result"];
    // Stage 0 has not begun; in stage n the n-th step runs; after the last one all are done.
    for stage in 0..=steps.len() + 1 {
        let entries = steps.iter().zip(1..).map(|(&content, step)| {
            let status = match step.cmp(&stage) {
                Ordering::Less => PlanEntryStatus::Completed,
                Ordering::Equal => PlanEntryStatus::InProgress,
                Ordering::Greater => PlanEntryStatus::Pending,
            };
            PlanEntry::new(content, PlanEntryPriority::Medium, status)
        });
        let plan = Plan::new(entries.collect());
        turn.update(SessionUpdate::Plan(plan)).await?;
        turn.pause(50).await;
    }
    turn.say("All three steps of the plan are done.").await
}

pub(super) async fn slow(turn: &DemoTurn, time: Duration) -> Result<(), Interrupt> {
    let start = Instant::now();
    for tick in 1_u64.. {
        turn.say(format!("{tick} ")).await?;
        if start.elapsed() >= time {
            break;
        }
        turn.pause(100).await;
    }
    Ok(())
}

pub(super) async fn resume(turn: &DemoTurn) -> Result<(), Interrupt> {
    let (here, restored) = (turn.totals.prompts, turn.totals.restored);
    let all = here + restored;
    turn.say(format!("Prompts in this session: {all} ({here} here, {restored} restored from a transcript).")).await
}

pub(super) async fn ask(turn: &DemoTurn) -> Result<(), Interrupt> {
    if !turn.demo.client_has_forms.load(atomic::Ordering::Relaxed) {
        let text = "I would ask you something, but your client cannot show a form.";
        return turn.say(text).await;
    }
    let bird = StringPropertySchema::new().title("Your favourite bird".to_owned()).one_of(vec![
        EnumOption::new("owl", "Owl"),
        EnumOption::new("robin", "Robin"),
        EnumOption::new("rooster", "Rooster"),
    ]);
    let reason = StringPropertySchema::new().title("Why?".to_owned());
    let form = ElicitationSchema::new().property("bird", bird, true).property("reason", reason, false);
    let scope = ElicitationSessionScope::new(turn.session.id.clone());
    let question =
        CreateElicitationRequest::new(ElicitationFormMode::new(scope, form), "Which bird should sit on the roost?");
    let answer = turn.client.send_request(question).block_task().await;
    match answer.map_err(Interrupt::Failed)?.action {
        ElicitationAction::Accept(accepted) => {
            let answers = accepted.content.unwrap_or_default();
            turn.say(format!("You answered: {}.", listed(&answers))).await
        }
        ElicitationAction::Decline => turn.say("You declined to answer.").await,
        _ => turn.say("You dismissed the question.").await,
    }
}

fn listed(answers: &BTreeMap<String, ElicitationContentValue>) -> String {
    let answer = |(field, value): (&String, &ElicitationContentValue)| match value {
        ElicitationContentValue::String(text) => format!("{field} = {text}"),
        other => format!("{field} = {other:?}"),
    };
    answers.iter().map(answer).collect::<Vec<_>>().join(", ")
}
