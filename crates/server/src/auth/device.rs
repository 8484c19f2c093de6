//! A paired device: what is stored of it, and how its tokens follow one another.

use std::time::Duration;

use roost_log::{RowChange, RowKind};
use roost_model::event::NewEvent;
use roost_model::ids::DeviceId;
use roost_model::payload::{DevicePairedPayload, DeviceRevokedPayload};
use roost_model::scope::Scope;
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AuthError, Token, TokenHash, TokenKind, after};

/// How long an access token is good for.
const ACCESS_TTL: Duration = Duration::from_secs(15 * 60);
/// How long a refresh token is good for.
const REFRESH_TTL: Duration = Duration::from_secs(7 * 24 * 3600);
/// A used refresh token that comes again this soon is a client racing with itself; later it is a thief or their victim.
const RACE: Duration = Duration::from_secs(30);
/// Refresh tokens that a race can be about, at most.
const RACING: usize = 8;
/// Characters that are kept of what a device says about itself.
const FACT_CHARS: usize = 120;

/// What is known of a device before it is paired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The name that it gave itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it says that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Its address, without the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_addr: Option<String>,
}

impl DeviceFacts {
    /// The same in a form that can be shown on a terminal: short, on one line, without control characters.
    pub(super) fn tidy(self) -> Self {
        let tidy = |text: Option<String>| {
            let text: String = text?.chars().filter(|c| !c.is_control()).take(FACT_CHARS).collect();
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        Self { name: tidy(self.name), user_agent: tidy(self.user_agent), remote_addr: tidy(self.remote_addr) }
    }

    /// What to call the device.
    fn title(&self) -> String {
        let product = || self.user_agent.as_deref().and_then(|agent| agent.split([' ', '/']).next());
        self.name.as_deref().or_else(product).unwrap_or("device").to_owned()
    }
}

/// An access and a refresh token as their owner gets them.
#[derive(Clone, Debug)]
pub struct TokenPair {
    /// Whose they are.
    pub device_id: DeviceId,
    /// What they allow.
    pub scope: Scope,
    /// For requests and connections.
    pub access: Token,
    /// When the access token ends; the refresh token makes another.
    pub access_expires_at: Timestamp,
    /// For the next pair, once.
    pub refresh: Token,
    /// When the refresh token ends; the device must be paired again then.
    pub refresh_expires_at: Timestamp,
}

/// What is stored of a token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Credential {
    pub(super) hash: TokenHash,
    pub(super) expires_at: Timestamp,
}

/// A refresh token that was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Spent {
    hash: TokenHash,
    at: Timestamp,
}

/// A paired device as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedDevice {
    /// Stays the same when the device's tokens are refreshed.
    pub device_id: DeviceId,
    /// Its name for people.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// What it said about itself when it was paired.
    pub facts: DeviceFacts,
    /// When it was paired.
    pub paired_at: Timestamp,
    /// When it last proved itself.
    pub last_seen: Timestamp,
    /// When it must have refreshed its tokens.
    pub expires_at: Timestamp,
}

/// A paired device as it is stored: the form of its row, which never leaves the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Device {
    pub(super) id: DeviceId,
    pub(super) name: String,
    pub(super) scope: Scope,
    facts: DeviceFacts,
    paired_at: Timestamp,
    pub(super) last_seen: Timestamp,
    pub(super) access: Credential,
    /// Still good until it expires, because requests may be on their way with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous_access: Option<Credential>,
    refresh: Credential,
    /// Common to all its refresh tokens.
    family: TokenHash,
    /// Those that were used a moment ago.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spent: Vec<Spent>,
}

/// A refresh token as a device sees it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Presented {
    /// The one to use.
    Current,
    /// It was used a moment ago.
    JustSpent,
    /// It was used longer ago.
    Stolen,
    /// The one to use, but too late.
    Expired,
}

impl Device {
    /// A new device and its first tokens.
    pub(super) fn pair(facts: DeviceFacts, scope: Scope, now: Timestamp) -> Result<(Self, TokenPair), AuthError> {
        let pair = TokenPair::new(DeviceId::new(), scope, Token::new(TokenKind::Refresh)?, now)?;
        let device = Self {
            id: pair.device_id.clone(),
            name: facts.title(),
            scope,
            facts,
            paired_at: now,
            last_seen: now,
            access: pair.access(),
            previous_access: None,
            refresh: pair.refresh(),
            family: pair.refresh.family(),
            spent: Vec::new(),
        };
        Ok((device, pair))
    }

    /// The device after its refresh token was used, and its next tokens.
    pub(super) fn rotated(&self, used: &Token, now: Timestamp) -> Result<(Self, TokenPair), AuthError> {
        let pair = TokenPair::new(self.id.clone(), self.scope, used.successor()?, now)?;
        let mut spent = vec![Spent { hash: used.hash(), at: now }];
        spent.extend(self.spent.iter().filter(|spent| now <= after(spent.at, RACE)).cloned());
        spent.truncate(RACING);
        let device = Self {
            last_seen: now,
            access: pair.access(),
            previous_access: Some(self.access.clone()),
            refresh: pair.refresh(),
            spent,
            ..self.clone()
        };
        Ok((device, pair))
    }

    /// What a refresh token is to this device; `None` if it is another device's.
    pub(super) fn knows(&self, token: &Token, now: Timestamp) -> Option<Presented> {
        if token.family() != self.family {
            return None;
        }
        let hash = token.hash();
        let racing = |spent: &Spent| spent.hash == hash && now <= after(spent.at, RACE);
        Some(if hash == self.refresh.hash {
            if self.is_expired(now) { Presented::Expired } else { Presented::Current }
        } else if self.spent.iter().any(racing) {
            Presented::JustSpent
        } else {
            Presented::Stolen
        })
    }

    /// What may be shown of it.
    pub(super) fn shown(&self, last_seen: Timestamp) -> PairedDevice {
        PairedDevice {
            device_id: self.id.clone(),
            name: self.name.clone(),
            scope: self.scope,
            facts: self.facts.clone(),
            paired_at: self.paired_at,
            last_seen,
            expires_at: self.refresh.expires_at,
        }
    }

    /// Its tokens can no longer be refreshed.
    pub(super) fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.refresh.expires_at
    }

    /// Its row, written.
    pub(super) fn stored(&self) -> Result<RowChange, AuthError> {
        Ok(RowChange { body: Some(to_json(self)?), ..self.deleted() })
    }

    /// Its row, deleted.
    pub(super) fn deleted(&self) -> RowChange {
        RowChange { kind: RowKind::Device, id: self.id.to_string(), body: None }
    }

    /// What the log says of its beginning.
    pub(super) fn paired(&self) -> NewEvent {
        let (device_id, name, scope) = (self.id.clone(), self.name.clone(), self.scope);
        NewEvent::of_host(self.paired_at, DevicePairedPayload { device_id, name, scope })
    }

    /// What the log says of its end.
    pub(super) fn revoked(&self, reason: &str, now: Timestamp) -> NewEvent {
        NewEvent::of_host(now, DeviceRevokedPayload { device_id: self.id.clone(), reason: reason.into() })
    }
}

impl TokenPair {
    fn new(device_id: DeviceId, scope: Scope, refresh: Token, now: Timestamp) -> Result<Self, AuthError> {
        Ok(Self {
            device_id,
            scope,
            access: Token::new(TokenKind::Access)?,
            access_expires_at: after(now, ACCESS_TTL),
            refresh,
            refresh_expires_at: after(now, REFRESH_TTL),
        })
    }

    fn access(&self) -> Credential {
        Credential { hash: self.access.hash(), expires_at: self.access_expires_at }
    }

    fn refresh(&self) -> Credential {
        Credential { hash: self.refresh.hash(), expires_at: self.refresh_expires_at }
    }
}

/// The JSON of a row.
pub(super) fn to_json<T: Serialize>(row: &T) -> Result<String, AuthError> {
    serde_json::to_string(row).map_err(|error| AuthError::Internal(error.to_string()))
}
