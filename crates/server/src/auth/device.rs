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
/// How long the token of a program is good for: nobody refreshes it, so somebody makes a new one once a year.
const PROGRAM_TTL: Duration = Duration::from_secs(365 * 24 * 3600);
/// A used refresh token that comes again this soon is a client racing with itself; later it is a thief or their victim.
const RACE: Duration = Duration::from_secs(30);
/// Refresh tokens that a race can be about, at most.
const RACING: usize = 8;
/// Characters that are kept of what a device says about itself.
const FACT_CHARS: usize = 120;

/// What a device says about itself when it pairs; stored with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The name that the device sent, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The `User-Agent` header, if any; it is not verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// The address without the port; behind a proxy followed by the forwarded ones.
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

    /// The name for people: the one it sent, else the product in its user agent.
    fn title(&self) -> String {
        let product = || self.user_agent.as_deref().and_then(|agent| agent.split([' ', '/']).next());
        self.name.as_deref().or_else(product).unwrap_or("device").to_owned()
    }
}

/// An access and a refresh token as their owner gets them.
#[derive(Clone, Debug)]
pub struct TokenPair {
    /// The device that both tokens belong to.
    pub device_id: DeviceId,
    /// The most that the tokens allow; both have the same scope.
    pub scope: Scope,
    /// Authenticates requests and connections; valid for 15 minutes (`ACCESS_TTL`).
    pub access: Token,
    /// When the access token ends; the refresh token makes another.
    pub access_expires_at: Timestamp,
    /// Exchanged for the next pair, once; valid for 7 days (`REFRESH_TTL`).
    pub refresh: Token,
    /// When the refresh token ends; the device must be paired again then.
    pub refresh_expires_at: Timestamp,
}

/// The token of a program, as whoever made it gets it.
#[derive(Clone, Debug)]
pub struct ProgramToken {
    /// The device as which the program is listed and revoked.
    pub device_id: DeviceId,
    /// The most that the token allows.
    pub scope: Scope,
    /// Authenticates requests and connections; valid for a year (`PROGRAM_TTL`), unless the device is revoked before.
    pub token: Token,
    /// When the token ends.
    pub expires_at: Timestamp,
}

/// The stored part of a token: its hash and its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Credential {
    pub(super) hash: TokenHash,
    pub(super) expires_at: Timestamp,
}

/// A refresh token that was exchanged, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SpentToken {
    hash: TokenHash,
    at: Timestamp,
}

/// A paired device, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedDevice {
    /// Stays the same when the device's tokens are refreshed.
    pub device_id: DeviceId,
    /// The name it gave itself, else the product in its user agent.
    pub name: String,
    /// The most that it may do.
    pub scope: Scope,
    /// What the device said about itself when it was paired.
    pub facts: DeviceFacts,
    /// When its pairing token was exchanged.
    pub paired_at: Timestamp,
    /// When it last authenticated with an access or refresh token.
    pub last_seen: Timestamp,
    /// When its refresh token expires; the device has to be paired again then.
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
    /// The hash of the half that all its refresh tokens share.
    family: TokenHash,
    /// The refresh tokens that were exchanged within the last 30 s (`RACE`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spent: Vec<SpentToken>,
}

/// What a presented refresh token is to its device.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RefreshTokenStatus {
    /// The device's valid refresh token.
    Current,
    /// It was exchanged within the last 30 s, so the client races with itself.
    JustSpent,
    /// It was exchanged earlier and comes again: somebody copied it.
    Stolen,
    /// The device's refresh token, but expired.
    Expired,
}

impl Device {
    /// Creates a device and its first tokens.
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

    /// Creates a device for a program, and its only token.
    pub(super) fn for_program(name: &str, scope: Scope, now: Timestamp) -> Result<(Self, ProgramToken), AuthError> {
        let facts = DeviceFacts { name: Some(name.into()), ..DeviceFacts::default() }.tidy();
        if facts.name.is_none() {
            return Err(AuthError::NoName);
        }
        // Nobody is given the refresh token of this pair, so the device lives exactly as long as its access token.
        let (device, pair) = Self::pair(facts, scope, now)?;
        let expires_at = after(now, PROGRAM_TTL);
        let access = Credential { expires_at, ..device.access };
        let refresh = Credential { expires_at, ..device.refresh };
        let token = ProgramToken { device_id: pair.device_id, scope, token: pair.access, expires_at };
        Ok((Self { access, refresh, ..device }, token))
    }

    /// The device after its refresh token was used, and its next tokens.
    pub(super) fn rotated(&self, used: &Token, now: Timestamp) -> Result<(Self, TokenPair), AuthError> {
        let pair = TokenPair::new(self.id.clone(), self.scope, used.successor()?, now)?;
        let mut spent = vec![SpentToken { hash: used.hash(), at: now }];
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

    /// Checks a refresh token; `None` if it is another device's.
    pub(super) fn check_refresh_token(&self, token: &Token, now: Timestamp) -> Option<RefreshTokenStatus> {
        if token.family() != self.family {
            return None;
        }
        let hash = token.hash();
        let racing = |spent: &SpentToken| spent.hash == hash && now <= after(spent.at, RACE);
        Some(if hash == self.refresh.hash {
            if self.is_expired(now) { RefreshTokenStatus::Expired } else { RefreshTokenStatus::Current }
        } else if self.spent.iter().any(racing) {
            RefreshTokenStatus::JustSpent
        } else {
            RefreshTokenStatus::Stolen
        })
    }

    /// The public part of the device, with this time of its last request.
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

    /// Whether its refresh token has expired.
    pub(super) fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.refresh.expires_at
    }

    /// The change that writes the device's row.
    pub(super) fn row_written(&self) -> Result<RowChange, AuthError> {
        Ok(RowChange { body: Some(to_json(self)?), ..self.row_deleted() })
    }

    /// The change that deletes the device's row.
    pub(super) fn row_deleted(&self) -> RowChange {
        RowChange { kind: RowKind::Device, id: self.id.to_string(), body: None }
    }

    /// The event that the device was paired.
    pub(super) fn paired_event(&self) -> NewEvent {
        let (device_id, name, scope) = (self.id.clone(), self.name.clone(), self.scope);
        NewEvent::for_host(self.paired_at, DevicePairedPayload { device_id, name, scope })
    }

    /// The event that the device was revoked.
    pub(super) fn revoked_event(&self, reason: &str, now: Timestamp) -> NewEvent {
        NewEvent::for_host(now, DeviceRevokedPayload { device_id: self.id.clone(), reason: reason.into() })
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
