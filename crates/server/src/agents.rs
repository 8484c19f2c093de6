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

/// How many refusals of one session are reported without delay.
const REPORT_BURST: NonZeroU32 = NonZeroU32::new(5).unwrap();
/// How often a further refusal is reported, so that an agent cannot fill the log.
const REPORT_PERIOD: Duration = Duration::from_secs(60);
/// Sessions whose refusals are counted at once; beyond it, the least recently counted ones are forgotten.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// A process that a hosted agent started, or that may be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// A process that belongs to the agent of this session.
    Session(SessionId),
    /// It descends from an agent or from Roost, but no known session owns it.
    Stray,
    /// The process ended before Roost could identify it.
    Unknown,
}

/// Finds out who connected to the local socket: the user, or a process that an agent started.
pub(crate) async fn caller(engine: &Engine, stream: &UnixStream) -> Caller {
    let peer = match stream.as_fd().try_clone_to_owned() {
        Ok(socket) => engine.caller(socket).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let agent = match peer {
        Ok(Peer::User) => return Caller::new(Door::Local, Scope::Admin, None),
        Ok(Peer::Agent(session)) => Agent::Session(session),
        Ok(Peer::Stray) => Agent::Stray,
        Ok(Peer::Unknown) => Agent::Unknown,
        Err(error) => {
            tracing::warn!(error, "A process at the local socket could not be looked at; it may do nothing.");
            Agent::Unknown
        }
    };
    Caller { agent: Some(agent), ..Caller::new(Door::Local, Scope::Agent, None) }
}

/// Lets an agent's process read its own session and refuses everything else. Each refusal is reported to the session's
/// viewers, within the throttle.
pub(crate) async fn check(
    context: &Context<'_>,
    agent: &Agent,
    method: Method,
    params: Option<&RawValue>,
) -> Result<(), Fault> {
    let may = match (method.agent_may(), agent) {
        (AgentMay::Call, _) | (AgentMay::ReportItself, Agent::Session(_)) => true,
        (AgentMay::LookAtItself, Agent::Session(own)) => is_about_session(context, own, params).await,
        _ => false,
    };
    if may {
        return Ok(());
    }
    report_refusal(context, agent, method).await;
    let fault = Fault::new(FaultCode::Forbidden, why(agent)).with("method", method.name()).with("scope", Scope::Agent);
    Err(match agent {
        Agent::Session(session) => fault.with("session_id", session),
        Agent::Stray | Agent::Unknown => fault,
    })
}

fn why(agent: &Agent) -> String {
    match agent {
        Agent::Session(session) => format!(
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

/// Whether the call's `session_id` names this session, by Roost's id or by the runtime's own.
async fn is_about_session(context: &Context<'_>, own: &SessionId, params: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct SessionParam {
        session_id: String,
    }
    let named = params.and_then(|params| serde_json::from_str::<SessionParam>(params.get()).ok());
    let Some(SessionParam { session_id }) = named else { return false };
    session_id == own.as_str()
        || context.host.sessions.get(&session_id).await.is_ok_and(|record| record.session_id == *own)
}

/// Warns in the session's log that its agent tried to call a method, unless the throttle holds it back.
async fn report_refusal(context: &Context<'_>, agent: &Agent, method: Method) {
    let account = match agent {
        Agent::Session(session) => session.as_str(),
        Agent::Stray | Agent::Unknown => "",
    };
    let Some(unreported) = context.host.throttles.refusals.count(account) else { return };
    let more = if unreported == 0 {
        String::new()
    } else {
        format!(" ({unreported} more were refused since the last notice)")
    };
    let name = method.name();
    tracing::warn!(session = account, method = name, "A process of an agent was refused at the local socket.{more}");
    if let Agent::Session(session) = agent {
        let message = format!(
            "A process that this agent started asked Roost for {name} and was refused: an agent does not approve, \
             start, stop or change anything.{more}"
        );
        if let Err(error) = context.host.sessions.engine.warn(session, message).await {
            tracing::warn!(%session, %error, "The viewers of a session could not be told what its agent tried.");
        }
    }
}

/// Throttles the reports of refused calls, per session.
pub(crate) struct RefusalThrottle {
    limiter: DefaultKeyedRateLimiter<String>,
    /// Refusals since the last report, by session.
    unreported: Mutex<LruCache<String, u64>>,
}

impl Default for RefusalThrottle {
    fn default() -> Self {
        let quota = Quota::with_period(REPORT_PERIOD).unwrap_or_else(|| Quota::per_minute(REPORT_BURST));
        Self {
            limiter: RateLimiter::keyed(quota.allow_burst(REPORT_BURST)),
            unreported: Mutex::new(LruCache::new(SESSIONS)),
        }
    }
}

impl RefusalThrottle {
    /// Counts a refusal. If it is to be reported, returns how many before it were not.
    fn count(&self, account: &str) -> Option<u64> {
        let mut unreported = self.unreported.lock();
        if self.limiter.len() > SESSIONS.get() {
            self.limiter.retain_recent();
        }
        match self.limiter.check_key(&account.to_owned()) {
            Ok(()) => Some(unreported.pop(account).unwrap_or(0)),
            Err(_) => {
                *unreported.get_or_insert_mut(account.to_owned(), || 0) += 1;
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
        let refusals = RefusalThrottle::default();
        let reported = (0..1000).filter(|_| refusals.count("a").is_some()).count();
        assert_eq!(reported, REPORT_BURST.get() as usize);
        assert_eq!(refusals.count("b"), Some(0), "another session's are told still");
    }
}
