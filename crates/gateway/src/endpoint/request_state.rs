//! The signed text by which a modern client takes up a call that waits for its input.
//!
//! The client keeps it and sends it back, so it could change it or send another's. It names the parked call and when it
//! expires, and is signed together with the principal and the digest of the call: for anybody else, for another call and
//! after its time it is nothing. The key lives as long as the daemon, as parked calls do.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use roost_model::time::Timestamp;
use sha2::Sha256;

use super::ANSWER_LIMIT;
use crate::principal::Principal;

const LIFETIME_MILLIS: i64 = ANSWER_LIMIT.as_millis() as i64;
const ID_BYTES: usize = 8;
const TIME_BYTES: usize = 8;

/// Signs and checks request states.
pub(super) struct StateKey([u8; 32]);

impl StateKey {
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self(key))
    }

    /// The state of a parked call.
    pub(super) fn sign(&self, id: u64, now: Timestamp, principal: &Principal, digest: &str) -> String {
        let expiry = now.as_millis() + LIFETIME_MILLIS;
        let mut state = [id.to_be_bytes(), expiry.to_be_bytes()].concat();
        let signature = self.mac(&state, principal, digest).finalize().into_bytes();
        state.extend_from_slice(&signature);
        URL_SAFE_NO_PAD.encode(state)
    }

    /// The id of the parked call, if the state is ours, not expired, and belongs to this principal and this call.
    pub(super) fn verify(&self, state: &str, now: Timestamp, principal: &Principal, digest: &str) -> Option<u64> {
        let state = URL_SAFE_NO_PAD.decode(state).ok()?;
        let (signed, signature) = state.split_at_checked(ID_BYTES + TIME_BYTES)?;
        self.mac(signed, principal, digest).verify_slice(signature).ok()?;
        let (id, expiry) = signed.split_at(ID_BYTES);
        let expiry = i64::from_be_bytes(expiry.try_into().ok()?);
        (now.as_millis() < expiry).then(|| id.try_into().ok().map(u64::from_be_bytes))?
    }

    fn mac(&self, signed: &[u8], principal: &Principal, digest: &str) -> Hmac<Sha256> {
        let key = &self.0;
        // Every length of key is allowed.
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
        mac.update(signed);
        mac.update(principal.to_string().as_bytes());
        mac.update(&[0]);
        mac.update(digest.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_counts_for_its_call_its_principal_and_its_time_only() {
        let (key, other) = (StateKey::new().unwrap(), StateKey::new().unwrap());
        let now = Timestamp::from_millis(1_000);
        let owner = Principal::Local;
        let stranger = Principal::Device("d".into());
        let state = key.sign(7, now, &owner, "digest");
        assert_eq!(key.verify(&state, now, &owner, "digest"), Some(7));
        let late = Timestamp::from_millis(1_000 + LIFETIME_MILLIS);
        assert_eq!(key.verify(&state, late, &owner, "digest"), None, "expired");
        assert_eq!(key.verify(&state, now, &stranger, "digest"), None, "of another principal");
        assert_eq!(key.verify(&state, now, &owner, "other"), None, "for another call");
        assert_eq!(other.verify(&state, now, &owner, "digest"), None, "signed by another daemon");
        assert_eq!(key.verify(&format!("{state}A"), now, &owner, "digest"), None, "longer");
        for at in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            let id = key.verify(&changed, now, &owner, "digest");
            assert_eq!(id, None, "changed at {at}");
        }
        assert_eq!(key.verify("", now, &owner, "digest"), None);
    }
}
