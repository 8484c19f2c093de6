//! Pairing tokens that were shown and not exchanged yet.

use std::collections::HashMap;
use std::time::Duration;

use roost_log::{RowChange, RowKind};
use roost_model::scope::Scope;
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::device::to_json;
use super::{AuthError, Token, TokenHash, TokenKind, after};

/// The greatest number of offers: a page that shows a new one each time must not fill the store.
const MOST: usize = 64;
/// The prefix of the ids of these rows, which share their kind with other secrets.
const PREFIX: &str = "pairing:";

/// A pairing token to show to a person.
#[derive(Clone, Debug)]
pub struct PairingToken {
    /// The token itself, which a device exchanges once.
    pub token: Token,
    /// When the token expires: [`Settings::pairing_ttl`](super::Settings) after it was created.
    pub expires_at: Timestamp,
}

/// What a pairing token grants; also the form of its row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Offer {
    pub(super) scope: Scope,
    pub(super) expires_at: Timestamp,
}

/// The pairing tokens that can be exchanged, by hash.
#[derive(Default)]
pub(super) struct Offers(HashMap<TokenHash, Offer>);

impl Offers {
    /// Reads the offers from the secret rows; rows of other secrets and rows that cannot be read are left out.
    pub(super) fn load(rows: Vec<(String, String)>) -> Self {
        let offer = |(id, body): (String, String)| {
            let hash = id.strip_prefix(PREFIX)?.parse().ok()?;
            Some((hash, serde_json::from_str(&body).ok()?))
        };
        Self(rows.into_iter().filter_map(offer).collect())
    }

    /// Creates an offer. It is valid once its rows are stored and [`Offers::add`] was called.
    pub(super) fn make(&self, scope: Scope, ttl: Duration, now: Timestamp) -> Result<NewOffer, AuthError> {
        let offer = Offer { scope, expires_at: after(now, ttl) };
        let mut others: Vec<_> = self.0.iter().map(|(hash, old)| (old.expires_at, *hash)).collect();
        others.sort_by_key(|(expires_at, _)| *expires_at);
        let surplus = (others.len() + 1).saturating_sub(MOST);
        let stale = (0..).zip(others).filter(|(at, (expires_at, _))| *at < surplus || *expires_at <= now);
        let stale = stale.map(|(_, (_, hash))| hash).collect();
        Ok(NewOffer { token: Token::new(TokenKind::Pairing)?, offer, stale })
    }

    /// The offer of this token, if it still stands.
    pub(super) fn find(&self, token: TokenHash, now: Timestamp) -> Result<Offer, AuthError> {
        self.0.get(&token).filter(|offer| now < offer.expires_at).copied().ok_or(AuthError::PairingToken)
    }

    /// Adds a new offer whose rows are stored.
    pub(super) fn add(&mut self, fresh: NewOffer) -> PairingToken {
        let NewOffer { token, offer, stale } = fresh;
        stale.iter().for_each(|hash| _ = self.0.remove(hash));
        self.0.insert(token.hash(), offer);
        PairingToken { token, expires_at: offer.expires_at }
    }

    /// Forgets an offer whose row is deleted.
    pub(super) fn remove(&mut self, token: TokenHash) {
        self.0.remove(&token);
    }

    /// The rows to delete before all offers are forgotten.
    pub(super) fn deleted(&self) -> Vec<RowChange> {
        self.0.keys().map(|hash| deleted(*hash)).collect()
    }
}

/// A token that is about to be offered.
pub(super) struct NewOffer {
    token: Token,
    offer: Offer,
    /// The expired and surplus offers that are deleted with the same write.
    stale: Vec<TokenHash>,
}

impl NewOffer {
    /// The rows to write and to delete for the new offer.
    pub(super) fn changes(&self) -> Result<Vec<RowChange>, AuthError> {
        let mut changes: Vec<_> = self.stale.iter().copied().map(deleted).collect();
        changes.push(RowChange { body: Some(to_json(&self.offer)?), ..deleted(self.token.hash()) });
        Ok(changes)
    }
}

/// The change that deletes an offer's row.
pub(super) fn deleted(token: TokenHash) -> RowChange {
    RowChange { kind: RowKind::Secret, id: format!("{PREFIX}{token}"), body: None }
}
