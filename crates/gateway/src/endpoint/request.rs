//! One request of a client, with what is known of the client.

use std::sync::Arc;

use serde_json::Map;
use serde_json::Value;
use serde_json::value::RawValue;

use super::log_level::LogLevel;
use super::outlet::Outlet;
use super::refusal::McpRefusal;
use super::session::Session;
use super::surface::View;
use crate::client_profile::ClientProfile;
use crate::era::{Era, MODERN};
use crate::principal::Principal;
use crate::raw_object::RawObject;

/// In a modern request's `_meta`: the revision.
pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do.
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The client's name and version.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// From which level on it wants to see log lines.
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Who asks, through which address, and what that client can do.
#[derive(Debug)]
pub struct ClientContext {
    /// On whose behalf.
    pub principal: Principal,
    /// What the client sees.
    pub view: View,
    /// What the client said about itself.
    pub profile: ClientProfile,
}

impl ClientContext {
    /// What the client calls itself.
    pub(super) fn name(&self) -> Option<&str> {
        self.profile.info.as_ref()?.get("name")?.as_str()
    }

    pub(super) fn is_modern(&self) -> bool {
        self.profile.era == Era::Modern
    }
}

/// One request, while it is being answered.
pub(super) struct Request<'a> {
    pub(super) id: &'a RawValue,
    pub(super) method: &'a str,
    /// The parameters; none are an empty object.
    pub(super) params: RawObject<'a>,
    pub(super) context: &'a Arc<ClientContext>,
    /// The session of a legacy client.
    pub(super) session: Option<&'a Arc<Session>>,
    /// Takes what is said before the answer.
    pub(super) outlet: &'a Outlet,
}

impl Request<'_> {
    /// From which level on this client wants log lines of this request; `None` if it wants none.
    pub(super) fn log_level(&self) -> Option<LogLevel> {
        match self.session {
            Some(session) => Some(session.log_level()),
            None => LogLevel::parse(&self.params.object("_meta")?.text(LOG_LEVEL)?),
        }
    }

    /// The parameter that must be a text.
    pub(super) fn text(&self, name: &str) -> Result<String, McpRefusal> {
        let missing = || McpRefusal::invalid_params(format!("{} needs \"{name}\", a text", self.method));
        self.params.text(name).ok_or_else(missing)
    }
}

/// Whether a message's `_meta` says that a modern client sent it.
pub fn names_revision(params: Option<&RawValue>) -> bool {
    let Some(params) = params else { return false };
    // Most legacy requests are told apart without reading them.
    params.get().contains(VERSION)
        && RawObject::parse(params)
            .and_then(|params| Some(params.object("_meta")?.get(VERSION).is_some()))
            .unwrap_or_default()
}

/// What a modern client says about itself with each request.
pub(super) fn modern_profile(params: &RawObject<'_>) -> Result<ClientProfile, McpRefusal> {
    let missing = |name: &str| McpRefusal::invalid_params(format!("the request's _meta needs \"{name}\""));
    let meta = params.object("_meta").ok_or_else(|| missing(VERSION))?;
    let revision = meta.text(VERSION).ok_or_else(|| missing(VERSION))?;
    if revision != MODERN {
        return Err(McpRefusal::unsupported_version(&revision));
    }
    let capabilities = meta.get(CAPABILITIES).ok_or_else(|| missing(CAPABILITIES))?;
    let capabilities: Map<String, Value> = serde_json::from_str(capabilities.get())
        .map_err(|_| McpRefusal::invalid_params(format!("\"{CAPABILITIES}\" must be an object")))?;
    let info = meta.get(CLIENT_INFO).and_then(|info| serde_json::from_str(info.get()).ok());
    Ok(ClientProfile { era: Era::Modern, capabilities, info })
}

/// Takes out of `_meta` what the client's era put there; what is for the service stays.
pub(super) fn strip_era(params: &mut RawObject<'_>) {
    let Some(mut meta) = params.object("_meta") else { return };
    let mut is_changed = false;
    for name in [VERSION, CAPABILITIES, CLIENT_INFO] {
        is_changed |= meta.remove(name);
    }
    if !is_changed {
        return;
    }
    let rest = (!meta.is_empty()).then(|| meta.to_raw());
    match rest {
        Some(rest) => params.set("_meta", rest),
        None => {
            params.remove("_meta");
        }
    }
}
