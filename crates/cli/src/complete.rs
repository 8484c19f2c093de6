//! What a shell offers for sessions, runtimes, modes and devices: asked of the daemon while somebody types.
//!
//! Clap calls these while it completes, before anything else of the program runs. No daemon is started for them, and one
//! that does not answer soon is not waited for: then nothing is offered.

use std::time::Duration;

use clap_complete::engine::CompletionCandidate;
use roost_client::Client;
use roost_model::mode::Mode;
use roost_rpc::{KeptBy, NoParams, SessionListParams, method};

use crate::connect;
use crate::find;
use crate::paths::StateDir;
use crate::screen::one_line;

/// The variable by which a shell asks for completions.
pub(crate) const VARIABLE: &str = "ROOST_COMPLETE";
/// How long somebody waits for a completion at most.
const PATIENCE: Duration = Duration::from_secs(1);
/// The greatest number of sessions that are offered.
const MAX_SESSIONS: u32 = 100;

/// The latest sessions, each with its runtime and title.
pub(crate) fn sessions() -> Vec<CompletionCandidate> {
    let mut sessions = ask(async |client| {
        let (limit, source) = (Some(MAX_SESSIONS), Some(KeptBy::Managed));
        let params = SessionListParams { limit, source, ..SessionListParams::default() };
        let sessions = client.call::<method::SessionList>(params).await?.sessions;
        Ok(sessions.into_iter().map(|one| candidate(&one.session_id, &format!("{} {}", one.agent_type, one.summary))))
    });
    sessions.push(candidate(find::LATEST, "the session that changed last"));
    in_order(sessions)
}

/// The agents that the daemon knows.
pub(crate) fn runtimes() -> Vec<CompletionCandidate> {
    ask(async |client| {
        let runtimes = client.greeting().capabilities.runtime_registry.runtimes.clone();
        Ok(runtimes.into_iter().map(|one| candidate(&one.id, &one.display_name)))
    })
}

/// The permission modes.
pub(crate) fn modes() -> Vec<CompletionCandidate> {
    let modes = [
        (Mode::Plan, "only reads run"),
        (Mode::Ask, "asks before everything but reads"),
        (Mode::AcceptEdits, "edits in the workspace run, too"),
        (Mode::Auto, "asks before dangerous calls only"),
        (Mode::Yolo, "everything runs unasked"),
    ];
    in_order(modes.map(|(mode, help)| candidate(&mode.as_str().replace('_', "-"), help)).into())
}

/// The devices that are paired.
pub(crate) fn devices() -> Vec<CompletionCandidate> {
    ask(async |client| {
        let devices = client.call::<method::DeviceList>(NoParams {}).await?.devices;
        Ok(devices.into_iter().map(|one| candidate(&one.device_id, &one.name)))
    })
}

/// The requests of devices that wait to be paired.
pub(crate) fn waiting_devices() -> Vec<CompletionCandidate> {
    ask(async |client| {
        let devices = client.call::<method::DevicePending>(NoParams {}).await?.pending;
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        Ok(devices.into_iter().map(move |one| candidate(&one.request_id, &name(&one.name))))
    })
}

/// Asks the daemon that runs; nothing comes of it if none does or if something fails.
fn ask<Found: Iterator<Item = CompletionCandidate>>(
    work: impl AsyncFnOnce(&Client) -> Result<Found, roost_client::Error>,
) -> Vec<CompletionCandidate> {
    let found = async {
        let state = StateDir::choose(std::env::var_os("ROOST_STATE").map(Into::into)).ok()?;
        let client = connect::find(&state).await.ok()??;
        Some(work(&client).await.ok()?.collect())
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let found = runtime.block_on(async { tokio::time::timeout(PATIENCE, found).await });
    found.ok().flatten().unwrap_or_default()
}

/// A word, and what a shell shows beside it.
fn candidate(word: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(one_line(word).into_owned()).help(Some(one_line(help.trim()).into_owned().into()))
}

/// Keeps shells from sorting by name what has a better order.
fn in_order(candidates: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    candidates.into_iter().enumerate().map(|(at, one)| one.display_order(Some(at))).collect()
}
