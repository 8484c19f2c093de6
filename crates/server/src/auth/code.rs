//! Six digits for people who cannot scan; used once, and locked when somebody guesses.

use std::time::Duration;

use roost_proto::rpc::Scope;
use roost_proto::time::Timestamp;
use subtle::ConstantTimeEq;

use super::{AuthError, after};

/// How long a code can be used.
const TTL: Duration = Duration::from_secs(10 * 60);
/// Wrong tries after which no try counts.
const TRIES: u8 = 5;

/// The code as it is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Code {
    /// Six digits.
    pub digits: String,
    /// Until when it can be used.
    pub expires_at: Timestamp,
}

/// The code that can be used now.
pub(super) struct Current {
    code: Code,
    scope: Scope,
    wrong: u8,
}

impl Current {
    pub(super) fn new(scope: Scope, now: Timestamp) -> Result<Self, AuthError> {
        let number = getrandom::u64().map_err(|error| AuthError::Internal(format!("no random numbers: {error}")))?;
        let code = Code { digits: format!("{:06}", number % 1_000_000), expires_at: after(now, TTL) };
        Ok(Self { code, scope, wrong: 0 })
    }

    pub(super) fn shown(&self) -> Code {
        self.code.clone()
    }

    /// What the code grants, if it is this one.
    pub(super) fn guess(&mut self, digits: &str, now: Timestamp) -> Result<Scope, AuthError> {
        if now >= self.code.expires_at {
            return Err(AuthError::Code);
        }
        if self.wrong >= TRIES {
            return Err(AuthError::CodeLocked);
        }
        if bool::from(digits.as_bytes().ct_eq(self.code.digits.as_bytes())) {
            return Ok(self.scope);
        }
        self.wrong += 1;
        Err(AuthError::Code)
    }
}
