//! Processes of hosted agents at the local door: what they may do, and what the viewers of their session hear of the rest.

use std::num::{NonZeroU32, NonZeroUsize};
use std::os::fd::AsFd;
use std::time::Duration;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use lru::LruCache;
use parking_lot::Mutex;
use roost_engine::{Caller as Peer, Engine};
use roost_model::ids::SessionId;
use roost_rpc::{AgentMay, Fault, FaultCode, Method, Scope};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::UnixStream;

use crate::caller::{Caller, Door};
use crate::dispatch::Context;

/// Refusals of one session that are told at once.
const TOLD_AT_ONCE: NonZeroU32 = NonZeroU32::new(5).unwrap();
/// After how long the next one is told, so that an agent cannot fill the log.
const THEN_EACH: Duration = Duration::from_secs(60);
/// Sessions whose refusals are counted; beyond it those that have rested are forgotten.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// A process that a hosted agent started, or that may be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// Of this session.
    Of(SessionId),
    /// Of no session that is known.
    Stray,
    /// It was gone before it could be looked at.
    Unknown,
}

/// Who connected to the local socket.
pub(crate) async fn caller(engine: &Engine, stream: &UnixStream) -> Caller {
    let looked = match stream.as_fd().try_clone_to_owned() {
        Ok(socket) => engine.caller(socket).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let agent = match looked {
        Ok(Peer::User) => return Caller::new(Door::Local, Scope::Admin, None),
        Ok(Peer::Agent(session)) => Agent::Of(session),
        Ok(Peer::Stray) => Agent::Stray,
        Ok(Peer::Unknown) => Agent::Unknown,
        Err(error) => {
            tracing::warn!(error, "A process at the local socket could not be looked at; it may do nothing.");
            Agent::Unknown
        }
    };
    Caller { agent: Some(agent), ..Caller::new(Door::Local, Scope::Agent, None) }
}

/// Lets a process of an agent look at its own session and refuses everything else.
pub(crate) async fn check(
    context: &Context<'_>,
    agent: &Agent,
    method: Method,
    params: Option<&RawValue>,
) -> Result<(), Fault> {
    let may = match (method.agent_may(), agent) {
        (AgentMay::Call, _) => true,
        (AgentMay::LookAtItself, Agent::Of(own)) => names(context, own, params).await,
        _ => false,
    };
    if may {
        return Ok(());
    }
    tell(context, agent, method).await;
    let fault = Fault::new(FaultCode::Forbidden, why(agent)).with("method", method.name()).with("scope", Scope::Agent);
    Err(match agent {
        Agent::Of(session) => fault.with("session_id", session),
        Agent::Stray | Agent::Unknown => fault,
    })
}

fn why(agent: &Agent) -> String {
    match agent {
        Agent::Of(session) => format!(
            "this process runs inside session {session}, where it may only look at that session: an agent does not \
             approve, start, stop or change anything. Do it in a terminal of your own"
        ),
        Agent::Stray => "this process was started by an agent or by Roost itself, so it may do nothing here: an agent \
                         does not approve, start, stop or change anything. Do it in a terminal of your own"
            .into(),
        Agent::Unknown => "Roost could not see which process connected, because it had ended by then; connect again \
                           from a process that waits for its answers"
            .into(),
    }
}

/// Whether the call is about this session, by whichever of its names.
async fn names(context: &Context<'_>, own: &SessionId, params: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct Named {
        session_id: String,
    }
    let named = params.and_then(|params| serde_json::from_str::<Named>(params.get()).ok());
    let Some(Named { session_id }) = named else { return false };
    session_id == own.as_str()
        || context.host.sessions.get(&session_id).await.is_ok_and(|record| record.session_id == *own)
}

/// Tells the viewers of the session that its agent tried something, unless they have heard enough of it.
async fn tell(context: &Context<'_>, agent: &Agent, method: Method) {
    let account = match agent {
        Agent::Of(session) => session.as_str(),
        Agent::Stray | Agent::Unknown => "",
    };
    let Some(untold) = context.host.throttles.refusals.tells(account) else { return };
    let more = if untold == 0 { String::new() } else { format!(" ({untold} more were refused since the last notice)") };
    let name = method.name();
    tracing::warn!(session = account, method = name, "A process of an agent was refused at the local socket.{more}");
    if let Agent::Of(session) = agent {
        let message = format!(
            "A process that this agent started asked Roost for {name} and was refused: an agent does not approve, \
             start, stop or change anything.{more}"
        );
        if let Err(error) = context.host.sessions.engine.warn(session, message).await {
            tracing::warn!(%session, %error, "The viewers of a session could not be told what its agent tried.");
        }
    }
}

/// What was refused, and how much of it was told.
pub(crate) struct Refusals {
    limiter: DefaultKeyedRateLimiter<String>,
    /// Refusals since the last one that was told, by session.
    untold: Mutex<LruCache<String, u64>>,
}

impl Default for Refusals {
    fn default() -> Self {
        let quota = Quota::with_period(THEN_EACH).unwrap_or_else(|| Quota::per_minute(TOLD_AT_ONCE));
        Self {
            limiter: RateLimiter::keyed(quota.allow_burst(TOLD_AT_ONCE)),
            untold: Mutex::new(LruCache::new(SESSIONS)),
        }
    }
}

impl Refusals {
    /// Counts one; if it is to be told, how many before it were not.
    fn tells(&self, account: &str) -> Option<u64> {
        let mut untold = self.untold.lock();
        if self.limiter.len() > SESSIONS.get() {
            self.limiter.retain_recent();
        }
        match self.limiter.check_key(&account.to_owned()) {
            Ok(()) => Some(untold.pop(account).unwrap_or(0)),
            Err(_) => {
                *untold.get_or_insert_mut(account.to_owned(), || 0) += 1;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_knocks_a_thousand_times_is_told_of_a_few_times() {
        let refusals = Refusals::default();
        let told = (0..1000).filter(|_| refusals.tells("a").is_some()).count();
        assert_eq!(told, TOLD_AT_ONCE.get() as usize);
        assert_eq!(refusals.tells("b"), Some(0), "another session's are told still");
    }
}
