//! What the agent does for each keyword.

mod drip;
mod faults;
mod flood;
mod talk;
mod tools;
mod tour;

use super::keyword::Keyword;
use super::turn::{DemoTurn, Interrupt};

/// Does what the keyword says; `Ok` is a turn that ended by itself.
pub(super) async fn play(turn: &DemoTurn, keyword: &Keyword) -> Result<(), Interrupt> {
    match keyword {
        Keyword::Tour => tour::tour(turn).await,
        Keyword::Hello => talk::hello(turn).await,
        Keyword::Edit { name } => tools::edit(turn, name).await,
        Keyword::Ask => talk::ask(turn).await,
        Keyword::Parallel { calls } => tools::parallel(turn, *calls).await,
        Keyword::Think => talk::think(turn).await,
        Keyword::Plan => talk::plan(turn).await,
        Keyword::Out { lines } => tools::out(turn, *lines).await,
        Keyword::Tools => tools::unasked(turn).await,
        Keyword::Slow { time } => talk::slow(turn, *time).await,
        Keyword::Flood { chunks, size } => flood::flood(turn, *chunks, *size).await,
        Keyword::Drip { pieces, rate, apart } => drip::drip(turn, *pieces, *rate, *apart).await,
        Keyword::BigLine { bytes } => flood::big_line(turn, *bytes).await,
        Keyword::Resume => talk::resume(turn).await,
        Keyword::Fail => faults::fail(turn).await,
        Keyword::Crash => faults::crash(turn).await,
        Keyword::Exit => faults::exit(turn).await,
        Keyword::Orphan => faults::orphan(turn).await,
        Keyword::Noise => faults::noise(turn).await,
        Keyword::Stubborn => faults::stubborn(turn).await,
    }
}
