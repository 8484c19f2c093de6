//! The life of a service as a state machine: what happened goes in, what is to be done comes out.

use std::collections::VecDeque;

use roost_model::service::manifest::{RestartMode, RestartPolicy};
use roost_model::service::{Health, Lifecycle};
use roost_model::time::Timestamp;

/// The wait before the first restart, in milliseconds; it doubles with each further one in the window.
const FIRST_WAIT_MILLIS: i64 = 500;
/// The longest wait before a restart.
const MAX_WAIT_MILLIS: i64 = 30_000;

/// Why a service cannot be used, as its connection or a probe found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceFault {
    /// It did not answer in time.
    Timeout,
    /// It refused our credentials.
    Unauthorized,
    /// No connection can be made, it broke, or the program ended.
    Unreachable,
    /// It answered, with something that is no MCP or with an internal error.
    Broken,
}

impl ServiceFault {
    fn health(self) -> Health {
        match self {
            Self::Timeout => Health::Timeout,
            Self::Unauthorized => Health::Unauthorized,
            Self::Unreachable => Health::Unreachable,
            Self::Broken => Health::Degraded,
        }
    }
}

/// What happens to a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceSignal {
    /// Somebody, or the daemon at its start, wants it to run.
    Start,
    /// The handshake is done and the interface listed.
    Ready,
    /// The handshake is done and its tools are listed, but not all of its other lists, for this reason.
    ReadyInPart(String),
    /// The start failed, or a running service was lost.
    Failed(ServiceFault, String),
    /// A program ended by itself without a failure.
    Ended,
    /// A probe of a running service found this.
    Probed(Result<(), (ServiceFault, String)>),
    /// The wait before a restart is over.
    WaitOver,
    /// Most recent calls failed through the service's own fault.
    BreakerTripped,
    /// Somebody wants it to stop.
    Stop,
    /// Everything of it has ended.
    Stopped,
    /// A person lets it be started again.
    Unquarantine,
}

/// What a supervisor does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupervisorAction {
    /// Connect, do the handshake and list the interface.
    Connect,
    /// End the connection, and the program if there is one.
    Disconnect,
    /// Report [`ServiceSignal::WaitOver`] at this time.
    WaitUntil(Timestamp),
}

/// Why a command cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Only a person brings it back.
    #[error(
        "the service is quarantined because it failed too often; look at its log, then `roost services unquarantine`"
    )]
    Quarantined,
    /// There is nothing to let out.
    #[error("the service is not quarantined")]
    NotQuarantined,
}

/// Where a service is in its life, and what led there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceLife {
    /// The state that clients see.
    pub lifecycle: Lifecycle,
    /// What the last look found.
    pub health: Health,
    /// Why it last failed; gone when it runs again.
    pub last_error: Option<String>,
    /// When it is tried again by itself.
    pub next_attempt: Option<Timestamp>,
    /// How often it was started again by itself since somebody started it.
    pub restart_count: u32,
    /// The failures within the policy's window, the oldest first.
    failures: VecDeque<Timestamp>,
}

impl Default for ServiceLife {
    fn default() -> Self {
        Self {
            lifecycle: Lifecycle::Registered,
            health: Health::Unknown,
            last_error: None,
            next_attempt: None,
            restart_count: 0,
            failures: VecDeque::new(),
        }
    }
}

impl ServiceLife {
    /// A service that was quarantined before the daemon was restarted, for this reason.
    pub fn quarantined(reason: String) -> Self {
        Self {
            lifecycle: Lifecycle::Quarantined,
            health: Health::Degraded,
            last_error: Some(reason),
            ..Self::default()
        }
    }

    /// What becomes of it, and what is to be done. `jitter` in `0.0..1.0` spreads restarts. A signal that is too late, such
    /// as the failure of a service that was stopped meanwhile, changes nothing.
    pub fn after(
        mut self,
        signal: ServiceSignal,
        policy: RestartPolicy,
        now: Timestamp,
        jitter: f64,
    ) -> Result<(Self, Option<SupervisorAction>), Refused> {
        use Lifecycle::{Crashed, Quarantined, Registered, Running, Starting, Stopped, Stopping};
        let action = match (self.lifecycle, signal) {
            (Quarantined, ServiceSignal::Start) => return Err(Refused::Quarantined),
            (Registered | Stopped | Crashed, ServiceSignal::Start) => {
                (self.restart_count, self.failures) = (0, VecDeque::new());
                Some(self.start())
            }
            (Crashed, ServiceSignal::WaitOver) if self.next_attempt.is_some() => {
                self.restart_count += 1;
                Some(self.start())
            }
            (Starting, ServiceSignal::Ready) => {
                (self.lifecycle, self.health, self.last_error) = (Running, Health::Healthy, None);
                None
            }
            (Starting, ServiceSignal::ReadyInPart(why)) => {
                (self.lifecycle, self.health, self.last_error) = (Running, Health::Degraded, Some(why));
                None
            }
            (Starting | Running, ServiceSignal::Failed(fault, why)) => {
                (self.health, self.last_error) = (fault.health(), Some(why));
                self.crash(policy, now, jitter)
            }
            (Running, ServiceSignal::Ended) if policy.mode == RestartMode::Always => {
                self.health = Health::Unreachable;
                self.crash(policy, now, jitter)
            }
            (Running, ServiceSignal::Ended) => {
                (self.lifecycle, self.health) = (Stopped, Health::Unknown);
                None
            }
            (Running, ServiceSignal::Probed(found)) => {
                (self.health, self.last_error) = match found {
                    Ok(()) => (Health::Healthy, None),
                    Err((fault, why)) => (fault.health(), Some(why)),
                };
                None
            }
            (Running, ServiceSignal::BreakerTripped) => {
                self.last_error = Some("most of its recent calls failed".into());
                (self.lifecycle, self.health) = (Quarantined, Health::Degraded);
                Some(SupervisorAction::Disconnect)
            }
            (Starting | Running, ServiceSignal::Stop) => {
                self.lifecycle = Stopping;
                Some(SupervisorAction::Disconnect)
            }
            (Registered | Crashed, ServiceSignal::Stop) | (Stopping, ServiceSignal::Stopped) => {
                (self.lifecycle, self.health, self.next_attempt) = (Stopped, Health::Unknown, None);
                None
            }
            (Quarantined, ServiceSignal::Unquarantine) => {
                self = Self { lifecycle: Stopped, ..Self::default() };
                None
            }
            (_, ServiceSignal::Unquarantine) => return Err(Refused::NotQuarantined),
            _ => None,
        };
        Ok((self, action))
    }

    fn start(&mut self) -> SupervisorAction {
        (self.lifecycle, self.next_attempt) = (Lifecycle::Starting, None);
        SupervisorAction::Connect
    }

    /// What follows from a failure: a restart after a while, quarantine after too many, or nothing.
    fn crash(&mut self, policy: RestartPolicy, now: Timestamp, jitter: f64) -> Option<SupervisorAction> {
        self.lifecycle = Lifecycle::Crashed;
        if policy.mode == RestartMode::Never {
            return None;
        }
        let window = i64::from(policy.window_seconds) * 1000;
        self.failures.push_back(now);
        self.failures.retain(|at| now.as_millis() - at.as_millis() <= window);
        if self.failures.len() > policy.max_restarts as usize {
            self.lifecycle = Lifecycle::Quarantined;
            return Some(SupervisorAction::Disconnect);
        }
        let doublings = u32::try_from(self.failures.len() - 1).unwrap_or(u32::MAX).min(16);
        let wait = (FIRST_WAIT_MILLIS << doublings).min(MAX_WAIT_MILLIS);
        // Half of the wait is certain, the other half is spread.
        let spread = (wait as f64 / 2.0 * jitter.clamp(0.0, 1.0)) as i64;
        let at = Timestamp::from_millis(now.as_millis() + wait / 2 + spread);
        self.next_attempt = Some(at);
        Some(SupervisorAction::WaitUntil(at))
    }
}

#[cfg(test)]
mod tests {
    use ServiceSignal::{BreakerTripped, Ended, Failed, Probed, Ready, Start, Stop, Unquarantine, WaitOver};
    use proptest::prelude::*;
    use roost_model::service::Lifecycle::{Crashed, Quarantined, Registered, Running, Starting, Stopped, Stopping};

    use super::*;

    fn policy(mode: RestartMode, max_restarts: u32) -> RestartPolicy {
        RestartPolicy { mode, max_restarts, window_seconds: 60 }
    }

    fn lost() -> ServiceSignal {
        Failed(ServiceFault::Unreachable, "it is gone".into())
    }

    /// The states after each of these signals, a millisecond apart.
    fn states(policy: RestartPolicy, signals: &[ServiceSignal]) -> Vec<Lifecycle> {
        let mut life = ServiceLife::default();
        let after = |(at, signal): (usize, &ServiceSignal)| {
            let now = Timestamp::from_millis(at as i64);
            if let Ok((next, _)) = life.clone().after(signal.clone(), policy, now, 0.5) {
                life = next;
            }
            life.lifecycle
        };
        signals.iter().enumerate().map(after).collect()
    }

    #[test]
    fn a_service_lives_as_its_policy_says() {
        use RestartMode::{Always, Never, OnFailure};
        let cases: [(RestartMode, u32, Vec<ServiceSignal>, Vec<Lifecycle>); 9] = [
            (
                OnFailure,
                5,
                vec![Start, Ready, Stop, ServiceSignal::Stopped],
                vec![Starting, Running, Stopping, Stopped],
            ),
            (OnFailure, 5, vec![Start, lost(), WaitOver, Ready], vec![Starting, Crashed, Starting, Running]),
            (OnFailure, 5, vec![Start, Ready, Ended], vec![Starting, Running, Stopped]),
            (Always, 5, vec![Start, Ready, Ended, WaitOver], vec![Starting, Running, Crashed, Starting]),
            (Never, 5, vec![Start, lost(), WaitOver, Start], vec![Starting, Crashed, Crashed, Starting]),
            (
                OnFailure,
                1,
                vec![Start, lost(), WaitOver, lost(), Start, Stop, Unquarantine, Start],
                vec![Starting, Crashed, Starting, Quarantined, Quarantined, Quarantined, Stopped, Starting],
            ),
            (
                OnFailure,
                5,
                vec![Start, Ready, BreakerTripped, Start],
                vec![Starting, Running, Quarantined, Quarantined],
            ),
            (OnFailure, 5, vec![Start, Stop, Ready, lost()], vec![Starting, Stopping, Stopping, Stopping]),
            (OnFailure, 5, vec![Ready, lost(), WaitOver, Unquarantine], vec![Registered; 4]),
        ];
        for (mode, max_restarts, signals, expected) in cases {
            assert_eq!(states(policy(mode, max_restarts), &signals), expected, "{mode:?} {signals:?}");
        }
    }

    #[test]
    fn a_probe_changes_the_health_and_not_the_state() {
        let policy = policy(RestartMode::OnFailure, 5);
        let now = Timestamp::from_millis(0);
        let after = |life: ServiceLife, signal| life.after(signal, policy, now, 0.0).unwrap().0;
        let running = after(after(ServiceLife::default(), Start), Ready);
        for (fault, health) in [
            (ServiceFault::Timeout, Health::Timeout),
            (ServiceFault::Unauthorized, Health::Unauthorized),
            (ServiceFault::Unreachable, Health::Unreachable),
            (ServiceFault::Broken, Health::Degraded),
        ] {
            let ill = after(running.clone(), Probed(Err((fault, "why".into()))));
            assert_eq!((ill.lifecycle, ill.health, ill.last_error.as_deref()), (Running, health, Some("why")));
            assert_eq!(after(ill, Probed(Ok(()))), running);
        }
    }

    #[test]
    fn waits_double_up_to_a_limit() {
        let policy = policy(RestartMode::OnFailure, 100);
        let (mut life, mut waits) = (ServiceLife::default(), Vec::new());
        let now = Timestamp::from_millis(0);
        life = life.after(Start, policy, now, 0.0).unwrap().0;
        for _ in 0..9 {
            let (crashed, action) = life.after(lost(), policy, now, 0.0).unwrap();
            let Some(SupervisorAction::WaitUntil(at)) = action else { panic!("{action:?}") };
            waits.push(at.as_millis());
            life = crashed.after(WaitOver, policy, at, 0.0).unwrap().0;
        }
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
    }

    fn any_signal() -> impl Strategy<Value = ServiceSignal> {
        prop_oneof![
            Just(Start),
            Just(Ready),
            Just(lost()),
            Just(Ended),
            Just(WaitOver),
            Just(BreakerTripped),
            Just(Stop),
            Just(ServiceSignal::Stopped),
            Just(Unquarantine),
            Just(Probed(Ok(()))),
        ]
    }

    proptest! {
        #[test]
        fn it_runs_only_after_a_handshake_and_leaves_quarantine_only_by_a_person(
            signals in proptest::collection::vec(any_signal(), 0..40),
        ) {
            let states = states(policy(RestartMode::Always, 3), &signals);
            let before = std::iter::once(Registered).chain(states.iter().copied());
            for ((before, after), signal) in before.zip(&states).zip(&signals) {
                if before != Running && *after == Running {
                    prop_assert_eq!((before, signal), (Starting, &Ready));
                }
                if before == Quarantined && *after != Quarantined {
                    prop_assert_eq!(signal, &Unquarantine);
                }
            }
        }
    }
}
