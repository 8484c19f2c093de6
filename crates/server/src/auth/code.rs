//! Six digits for people who cannot scan; used once.
//!
//! Wrong tries lock the address that tried, so that an attacker elsewhere does not lock the owner out. Many addresses
//! together are bounded too: after [`TRIES`] wrong tries in all, the code is withdrawn until `roost pair` shows another
//! one. Somebody who guesses therefore has `TRIES` of a million per code that the owner shows, whatever the number of
//! addresses: 50 / 10⁶ = 1 in 20,000. A code that nobody shows does not exist and cannot be guessed. The
//! app's QR code and the pairing token are neither locked nor withdrawn: they have 256 random bits.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use roost_model::payload::PairingLockedPayload;
use roost_model::scope::Scope;
use roost_model::time::Timestamp;
use subtle::ConstantTimeEq;

use super::{AuthError, after};
use crate::connection_limit::network;

/// How long a code is valid.
const TTL: Duration = Duration::from_secs(10 * 60);
/// Wrong tries after which an address is locked until another code is shown.
const TRIES_PER_ADDRESS: u32 = 5;
/// Wrong tries of all addresses together after which the code is withdrawn.
const TRIES: u32 = 50;

/// A pairing code to show to a person.
#[derive(Clone, PartialEq, Eq)]
pub struct Code {
    /// Six digits, which a person types.
    pub digits: String,
    /// When the code expires: 10 minutes (`TTL`) after it was created.
    pub expires_at: Timestamp,
    /// What a device that is paired with it may do.
    pub scope: Scope,
}

/// Why a code that was shown is no longer valid; displayed as the end of a sentence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeEnd {
    /// Its ten minutes are over.
    #[error("it has expired")]
    Expired,
    /// Another code was made, which is the only valid one now.
    #[error("a newer code was made")]
    Replaced,
    /// A device was paired with it, or all devices and codes were revoked.
    #[error("it was used or revoked")]
    Used,
    /// Too many wrong codes were tried.
    #[error("too many wrong codes were tried")]
    Withdrawn,
}

/// The valid code, and the wrong tries against it.
pub(super) struct ActiveCode {
    code: Code,
    wrong: BTreeMap<IpAddr, u32>,
}

/// The result of a try.
pub(super) enum Guess {
    /// The code is right; a device that exchanges it gets this scope.
    Right(Scope),
    /// The code is wrong. Holds the event to record if this try locked the address or withdrew the code.
    Wrong(Option<PairingLockedPayload>),
}

impl ActiveCode {
    pub(super) fn new(scope: Scope, now: Timestamp) -> Result<Self, AuthError> {
        let number = getrandom::u64().map_err(|error| AuthError::Internal(format!("no random numbers: {error}")))?;
        let code = Code { digits: format!("{:06}", number % 1_000_000), expires_at: after(now, TTL), scope };
        Ok(Self { code, wrong: BTreeMap::new() })
    }

    pub(super) fn shown(&self) -> Code {
        self.code.clone()
    }

    /// Why the code is no longer valid; `None` while a device can be paired with it.
    pub(super) fn end(&self, now: Timestamp) -> Option<CodeEnd> {
        match self.is_withdrawn() {
            true => Some(CodeEnd::Withdrawn),
            false => (now >= self.code.expires_at).then_some(CodeEnd::Expired),
        }
    }

    /// Checks a try from this address and counts it if it is wrong.
    pub(super) fn guess(&mut self, digits: &str, from: IpAddr, now: Timestamp) -> Result<Guess, AuthError> {
        if now >= self.code.expires_at {
            return Err(AuthError::Code);
        }
        if self.is_withdrawn() {
            return Err(AuthError::CodeWithdrawn);
        }
        let wrong = self.wrong.entry(network(from)).or_default();
        if *wrong >= TRIES_PER_ADDRESS {
            return Err(AuthError::AddressLocked);
        }
        if bool::from(digits.as_bytes().ct_eq(self.code.digits.as_bytes())) {
            return Ok(Guess::Right(self.code.scope));
        }
        *wrong += 1;
        let (wrong_tries, code_withdrawn) = (*wrong, self.is_withdrawn());
        let locks = wrong_tries == TRIES_PER_ADDRESS || code_withdrawn;
        let locked = locks.then(|| PairingLockedPayload { address: from.to_string(), wrong_tries, code_withdrawn });
        Ok(Guess::Wrong(locked))
    }

    /// The addresses that are locked until another code is shown.
    pub(super) fn locked(&self) -> impl Iterator<Item = IpAddr> {
        self.wrong.iter().filter(|(_, wrong)| **wrong >= TRIES_PER_ADDRESS).map(|(address, _)| *address)
    }

    pub(super) fn is_withdrawn(&self) -> bool {
        self.wrong.values().sum::<u32>() >= TRIES
    }
}
