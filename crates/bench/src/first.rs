//! `first`: how much later the first piece of an answer is there than from the bare agent.

use std::time::{Duration, Instant};

use roost_log::{Filter, Follower, Start, StreamId};
use roost_model::event::EventBody;
use roost_model::ids::SessionId;

use crate::Outcome;
use crate::agent::PipedAgent;
use crate::figure::{Table, Target, median, millis};
use crate::stage::Stage;

const WARM: usize = 200;
const COLD: usize = 30;

/// Adds the median time to the first delta in an open session and in a new one, bare and through the engine.
pub(crate) fn run(table: &mut Table) -> Outcome {
    let runtime = tokio::runtime::Runtime::new()?;
    let (mut bare_warm, mut bare_cold) = (vec![], vec![]);
    let mut agent = PipedAgent::start()?;
    for _ in 0..=WARM {
        let start = Instant::now();
        agent.first_delta("hello")?;
        bare_warm.push(millis(start.elapsed()));
        agent.read_response()?;
    }
    for _ in 0..COLD {
        let start = Instant::now();
        let mut agent = PipedAgent::start()?;
        agent.first_delta("hello")?;
        bare_cold.push(millis(start.elapsed()));
        agent.read_response()?;
    }
    let (ours_warm, ours_cold) = runtime.block_on(ours())?;
    let (bare_warm, bare_cold) = (median(bare_warm), median(bare_cold));
    table.add("first", "first delta, open session: bare agent, p50", bare_warm, "ms", Target::None);
    table.add("first", "first delta, open session: Roost, p50", ours_warm, "ms", Target::None);
    table.add("first", "first delta, open session: above bare", ours_warm - bare_warm, "ms", Target::AtMost(3.0));
    table.add("first", "first delta, cold: bare agent, p50", bare_cold, "ms", Target::None);
    table.add("first", "first delta, cold: Roost, p50", ours_cold, "ms", Target::None);
    table.add("first", "first delta, cold: above bare", ours_cold - bare_cold, "ms", Target::AtMost(25.0));
    Ok(())
}

async fn ours() -> Outcome<(f64, f64)> {
    let stage = Stage::start(COLD + 1).await?;
    let session = stage.session().await?;
    let mut follower = follow(&stage, &session).await?;
    let mut warm = vec![];
    for round in 0..=WARM {
        let first = turn(&stage, &session, &mut follower).await?;
        // The first prompt opens the session, which is what `cold` measures.
        if round > 0 {
            warm.push(millis(first));
        }
    }
    let mut cold = vec![];
    for _ in 0..COLD {
        let start = Instant::now();
        let session = stage.session().await?;
        let mut follower = follow(&stage, &session).await?;
        let made = start.elapsed();
        cold.push(millis(made + turn(&stage, &session, &mut follower).await?));
        stage.engine.close(session.as_str(), "measured").await?;
    }
    stage.engine.shutdown("bench").await;
    Ok((median(warm), median(cold)))
}

/// One turn: the time to its first delta.
async fn turn(stage: &Stage, session: &SessionId, follower: &mut Follower) -> Outcome<Duration> {
    let start = Instant::now();
    stage.prompt(session, "hello").await?;
    let mut first = None;
    loop {
        for entry in &follower.next().await? {
            match &entry.event()?.body {
                EventBody::ModelOutputDelta(_) => _ = first.get_or_insert_with(|| start.elapsed()),
                EventBody::TaskCompleted(_) => return Ok(first.ok_or("a turn without a delta")?),
                body if body.ends_task() => return Err(format!("the task ended badly: {body:?}").into()),
                _ => {}
            }
        }
    }
}

async fn follow(stage: &Stage, session: &SessionId) -> Outcome<Follower> {
    let stream = StreamId::from(session);
    Ok(stage.log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await?)
}
