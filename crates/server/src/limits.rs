//! Rate limits: how often each client may call, by the cost of the method.

use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use roost_rpc::{Cost, Fault, FaultCode};

use crate::caller::{Caller, Door};
use crate::settings::Limits;

/// Accounts beyond which idle ones are forgotten.
const ACCOUNTS: usize = 1024;

type Limiter = DefaultKeyedRateLimiter<String>;

/// One limiter per kind of call, each keyed by account; absent where the limit is 0.
pub(crate) struct RateLimits {
    clock: DefaultClock,
    reads: Option<Limiter>,
    changes: Option<Limiter>,
    starts: Option<Limiter>,
    uploads: Option<Limiter>,
}

impl RateLimits {
    pub(crate) fn new(limits: &Limits) -> Self {
        let limiter = |per_minute| NonZeroU32::new(per_minute).map(|most| RateLimiter::keyed(Quota::per_minute(most)));
        Self {
            clock: DefaultClock::default(),
            reads: limiter(limits.reads_per_minute),
            changes: limiter(limits.changes_per_minute),
            starts: limiter(limits.starts_per_minute),
            uploads: limiter(limits.uploads_per_minute),
        }
    }

    /// Counts a call; refuses one too many and says when to try again. The local door is not counted.
    pub(crate) fn count(&self, caller: &Caller, cost: Cost) -> Result<(), Fault> {
        if caller.door == Door::Local {
            return Ok(());
        }
        match cost {
            Cost::Read => self.check(self.reads.as_ref(), caller, "reading calls"),
            Cost::Change => self.check(self.changes.as_ref(), caller, "changing calls"),
            Cost::Start => {
                self.check(self.changes.as_ref(), caller, "changing calls")?;
                self.check(self.starts.as_ref(), caller, "agent starts")
            }
        }
    }

    /// Counts an upload; refuses one too many and says when to try again.
    pub(crate) fn count_upload(&self, caller: &Caller) -> Result<(), Fault> {
        self.check(self.uploads.as_ref(), caller, "uploads")
    }

    fn check(&self, limiter: Option<&Limiter>, caller: &Caller, what: &str) -> Result<(), Fault> {
        let Some(limiter) = limiter else { return Ok(()) };
        if limiter.len() > ACCOUNTS {
            limiter.retain_recent();
        }
        limiter.check_key(&caller.account().to_owned()).map_err(|until| {
            let seconds = until.wait_time_from(self.clock.now()).as_secs_f64().ceil().max(1.0) as u64;
            metrics::counter!(crate::metrics::DROPS, "reason" => "rate_limit").increment(1);
            let why = format_args!("too many {what} in a minute; try again in {seconds} s");
            Fault::new(FaultCode::RateLimited, why).with("retry_after", seconds)
        })
    }
}
