//! What a module may do: what its manifest names, as far as the server's policy allows it.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use roost_model::service::wasm::{FolderAccess, WasmCapabilities};
use roost_model::service::{NAMESPACE_SEPARATOR, RESERVED_NAMESPACES};
use url::Url;

use crate::effects::GrantedFile;

/// What a module may do. Both sides must name a thing.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    manifest: WasmCapabilities,
    policy: WasmCapabilities,
}

/// A thing that a module may not do, and which side does not name it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the module may not {action}: {missing}")]
pub struct Denied {
    /// What it wanted, such as `call the model "x"`.
    pub action: String,
    /// Who would have to allow it.
    pub missing: MissingGrant,
}

/// The side that does not name a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingGrant {
    /// The manifest's `capabilities`.
    Manifest,
    /// The server's policy.
    Policy,
    /// The path or address is one that nobody could grant.
    Malformed,
}

impl fmt::Display for MissingGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manifest => "its manifest does not name it under capabilities",
            Self::Policy => "the policy of this server does not allow it",
            Self::Malformed => "it is no absolute path without \"..\", or no address with http or https",
        })
    }
}

impl Grants {
    /// What both the manifest and the policy name.
    pub fn new(manifest: WasmCapabilities, policy: WasmCapabilities) -> Self {
        Self { manifest, policy }
    }

    /// Whether a model of this name may be asked.
    pub fn model(&self, name: &str) -> Result<(), Denied> {
        self.check(|side| names(&side.models, name), || format!("call the model \"{name}\""))
    }

    /// The address, if a request may be sent to it.
    pub fn http(&self, address: &str) -> Result<Url, Denied> {
        let action = || format!("reach {}", host_for_people(address));
        let malformed = || Denied { action: action(), missing: MissingGrant::Malformed };
        let url = Url::parse(address).map_err(|_| malformed())?;
        let host = match (url.scheme(), url.host_str()) {
            ("http" | "https", Some(host)) => host.to_ascii_lowercase(),
            _ => return Err(malformed()),
        };
        self.check(|side| side.http_hosts.iter().any(|pattern| host_matches(pattern, &host)), action)?;
        Ok(url)
    }

    /// The file, if it may be used so. A relative path is taken from the first folder of the manifest.
    pub fn file(&self, path: &str, access: FolderAccess) -> Result<GrantedFile, Denied> {
        let verb = if access == FolderAccess::Read { "read" } else { "write" };
        let denied = |missing| Denied { action: format!("{verb} {path}"), missing };
        let first = self.manifest.folders.first().ok_or_else(|| denied(MissingGrant::Manifest))?;
        let path = Path::new(&first.path).join(path);
        let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        if !path.is_absolute() || !path.components().all(is_plain) {
            return Err(denied(MissingGrant::Malformed));
        }
        let folder = |side: &WasmCapabilities| -> Option<PathBuf> {
            let fitting = side.folders.iter().filter(|grant| grant.access >= access && path.starts_with(&grant.path));
            fitting.map(|grant| PathBuf::from(&grant.path)).max_by_key(|folder| folder.components().count())
        };
        let wanted = folder(&self.manifest).ok_or_else(|| denied(MissingGrant::Manifest))?;
        let allowed = folder(&self.policy).ok_or_else(|| denied(MissingGrant::Policy))?;
        // The narrower of the two holds for both.
        let folder = if wanted.starts_with(&allowed) { wanted } else { allowed };
        let relative = path.strip_prefix(&folder).map_err(|_| denied(MissingGrant::Policy))?.to_path_buf();
        Ok(GrantedFile { folder, relative })
    }

    /// Whether the secret of this name may be read.
    pub fn secret(&self, name: &str) -> Result<(), Denied> {
        self.check(|side| names(&side.secrets, name), || format!("read the secret \"{name}\""))
    }

    /// Whether this tool of the gateway may be called. Its own tools show every service, so `*` does not mean them: each
    /// must be named in full.
    pub fn tool(&self, name: &str) -> Result<(), Denied> {
        let namespace = name.split_once(NAMESPACE_SEPARATOR).map(|(namespace, _)| namespace);
        let is_named = |tools: &[String]| match namespace {
            Some(own) if RESERVED_NAMESPACES.contains(&own) => tools.iter().any(|tool| tool == name),
            _ => names(tools, name),
        };
        self.check(|side| is_named(&side.tools), || format!("call the tool \"{name}\""))
    }

    /// Whether any tool of the gateway may be called.
    pub fn any_tool(&self) -> Result<(), Denied> {
        self.check(|side| !side.tools.is_empty(), || "call tools".into())
    }

    /// Whether a person may be asked.
    pub fn ask(&self) -> Result<(), Denied> {
        self.check(|side| side.ask, || "ask a person".into())
    }

    /// Whether the clock may be read.
    pub fn clock(&self) -> Result<(), Denied> {
        self.check(|side| side.clock, || "read the clock".into())
    }

    /// Whether random numbers may be had.
    pub fn random(&self) -> Result<(), Denied> {
        self.check(|side| side.random, || "get random numbers".into())
    }

    /// Whether the module may do anything but compute and read the clock.
    pub(crate) fn has_effects(&self) -> bool {
        let effects = ["Model", "Network", "FileSystem", "Secret", "MCP", "HumanInLoop"];
        effects.iter().any(|name| self.effect(name))
    }

    /// Whether anything of a kind may be done, by the name that Clarity has for the effect.
    pub(crate) fn effect(&self, name: &str) -> bool {
        let has = |side: &WasmCapabilities| match name {
            "Model" => !side.models.is_empty(),
            "Network" => !side.http_hosts.is_empty(),
            "FileSystem" => !side.folders.is_empty(),
            "Secret" => !side.secrets.is_empty(),
            "MCP" => !side.tools.is_empty(),
            "HumanInLoop" => side.ask,
            "Time" => side.clock,
            "Random" => side.random,
            "Log" | "Test" | "Trace" | "Eval" => true,
            _ => false,
        };
        has(&self.manifest) && has(&self.policy)
    }

    fn check(&self, has: impl Fn(&WasmCapabilities) -> bool, action: impl Fn() -> String) -> Result<(), Denied> {
        let sides = [(&self.manifest, MissingGrant::Manifest), (&self.policy, MissingGrant::Policy)];
        match sides.into_iter().find(|(side, _)| !has(side)) {
            Some((_, missing)) => Err(Denied { action: action(), missing }),
            None => Ok(()),
        }
    }
}

/// The host of an address without what may be secret in the rest of it.
fn host_for_people(address: &str) -> String {
    let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| "an address that is none".into())
}

fn names(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    })
}

fn host_matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    match pattern.strip_prefix('*') {
        Some("") => true,
        // What follows begins with a dot, so no other domain that ends alike fits.
        Some(domain) if domain.starts_with('.') => host.ends_with(domain) && host.len() > domain.len(),
        _ => pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use roost_model::service::wasm::FolderGrant;

    use super::*;

    fn all() -> WasmCapabilities {
        let star = || vec!["*".to_owned()];
        let folders = vec![FolderGrant { path: "/".into(), access: FolderAccess::Write }];
        WasmCapabilities {
            models: star(),
            http_hosts: star(),
            folders,
            secrets: star(),
            tools: star(),
            ask: true,
            clock: true,
            random: true,
        }
    }

    fn every_check(grants: &Grants) -> Vec<Result<(), Denied>> {
        vec![
            grants.model("m"),
            grants.http("https://example.com/x").map(drop),
            grants.file("/w/a", FolderAccess::Read).map(drop),
            grants.file("/w/a", FolderAccess::Write).map(drop),
            grants.secret("S"),
            grants.tool("t"),
            grants.any_tool(),
            grants.ask(),
            grants.clock(),
            grants.random(),
        ]
    }

    #[test]
    fn nothing_is_granted_unless_manifest_and_policy_name_it() {
        for (manifest, policy, missing) in [
            (WasmCapabilities::default(), all(), Some(MissingGrant::Manifest)),
            (all(), WasmCapabilities::default(), Some(MissingGrant::Policy)),
            (all(), all(), None),
        ] {
            for checked in every_check(&Grants::new(manifest, policy)) {
                assert_eq!(checked.err().map(|denied| denied.missing), missing);
            }
        }
    }

    #[test]
    fn the_gateways_own_tools_are_meant_only_by_their_whole_names() {
        let grants = |manifest: &str, policy: &str| {
            let side = |tool: &str| WasmCapabilities { tools: vec![tool.into()], ..WasmCapabilities::default() };
            Grants::new(side(manifest), side(policy))
        };
        let (own, of_service) = ("runtime__get_service", "notes__add");
        for (manifest, policy, tool, granted) in [
            ("*", "*", of_service, true),
            ("*", "*", own, false),
            (own, "*", own, false),
            ("runtime__*", own, own, false),
            (own, own, own, true),
        ] {
            assert_eq!(grants(manifest, policy).tool(tool).is_ok(), granted, "{manifest} {policy} {tool}");
        }
    }

    #[test]
    fn hosts_are_compared_whole_or_by_domain() {
        let grants = |host: &str| {
            Grants::new(WasmCapabilities { http_hosts: vec![host.into()], ..WasmCapabilities::default() }, all())
        };
        for (pattern, address, granted) in [
            ("example.com", "https://EXAMPLE.com:8443/x", true),
            ("example.com", "https://example.com.evil.org/", false),
            ("example.com", "https://user:example.com@evil.org/", false),
            ("*.example.com", "https://api.example.com/", true),
            ("*.example.com", "https://example.com/", false),
            ("*.example.com", "https://evilexample.com/", false),
            ("*", "http://127.0.0.1/", true),
            ("*", "file:///etc/passwd", false),
            ("*", "no address", false),
        ] {
            assert_eq!(grants(pattern).http(address).is_ok(), granted, "{pattern} {address}");
        }
    }

    #[test]
    fn files_stay_below_the_folders_of_both_sides() {
        let folder = |path: &str, access| WasmCapabilities {
            folders: vec![FolderGrant { path: path.into(), access }],
            ..WasmCapabilities::default()
        };
        let grants = Grants::new(folder("/w/data", FolderAccess::Write), folder("/w", FolderAccess::Read));
        let file = |folder: &str, relative: &str| GrantedFile { folder: folder.into(), relative: relative.into() };
        for (path, access, expected) in [
            ("/w/data/a", FolderAccess::Read, Some(file("/w/data", "a"))),
            ("a/b", FolderAccess::Read, Some(file("/w/data", "a/b"))),
            ("/w/data", FolderAccess::Read, Some(file("/w/data", ""))),
            ("/w/data/a", FolderAccess::Write, None),
            ("/w/other", FolderAccess::Read, None),
            ("/w/data/../x", FolderAccess::Read, None),
            ("../x", FolderAccess::Read, None),
            ("/w/database", FolderAccess::Read, None),
            ("/etc/passwd", FolderAccess::Read, None),
        ] {
            assert_eq!(grants.file(path, access).ok(), expected, "{path}");
        }
    }
}
