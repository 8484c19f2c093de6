//! What of a manifest is shown to callers who may not change services: everything but what could be a secret.

use std::borrow::Cow;

use roost_engine::redact_json;
use roost_model::service::manifest::{Manifest, ServiceOrigin};
use serde_json::Value;
use url::Url;

/// Stands for what the caller may not see.
const HIDDEN: &str = "***";
/// A part of a path that is so long and has a digit is taken for a key: many servers put one into their addresses.
const KEY_LENGTH: usize = 20;

/// The manifest without the values of variables, which may be secrets that somebody wrote there all the same, and without
/// what looks like a secret in addresses and arguments.
pub fn without_secrets(mut manifest: Manifest) -> Manifest {
    manifest.metadata.source_file = without_url_secrets(&manifest.metadata.source_file).into_owned();
    let (variables, args) = match &mut manifest.spec.origin {
        ServiceOrigin::LocalWasm { env, args, .. } | ServiceOrigin::StdioMcp { env, args, .. } => {
            (env.as_mut_slice(), args.as_mut_slice())
        }
        ServiceOrigin::RemoteMcp { endpoint, .. } => {
            *endpoint = without_url_secrets(endpoint).into_owned();
            return manifest;
        }
    };
    for value in variables.iter_mut().filter_map(|variable| variable.value.as_mut()) {
        *value = HIDDEN.into();
    }
    // As a list, so that a secret behind an option is seen as one.
    if let Value::Array(redacted) = redact_json(&Value::from_iter(args.iter().map(String::as_str))) {
        for (arg, redacted) in args.iter_mut().zip(redacted) {
            *arg = redacted.as_str().map_or_else(|| HIDDEN.into(), |text| without_url_secrets(text).into_owned());
        }
    }
    manifest
}

/// A text that is an address, or ends with one, without what could be a secret in it: its user, the values of its query,
/// its fragment, and parts of its path that look like keys.
pub fn without_url_secrets(text: &str) -> Cow<'_, str> {
    let Some(start) = ["https://", "http://"].iter().filter_map(|scheme| text.find(scheme)).min() else {
        return Cow::Borrowed(text);
    };
    let (before, address) = text.split_at(start);
    let Ok(mut url) = Url::parse(address) else { return format!("{before}{HIDDEN}").into() };
    if !url.username().is_empty() || url.password().is_some() {
        // Addresses of these schemes always have a host, so both can be set.
        let _ = url.set_username(HIDDEN);
        let _ = url.set_password(None);
    }
    if let Some(query) = url.query() {
        let hidden = |pair: &str| match pair.split_once('=') {
            Some((name, _)) => format!("{name}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        };
        let query = query.split('&').map(hidden).collect::<Vec<_>>().join("&");
        url.set_query(Some(&query));
    }
    let is_key = |part: &&str| part.len() >= KEY_LENGTH && part.bytes().any(|byte| byte.is_ascii_digit());
    let path = url.path().to_owned();
    if path.split('/').any(|part| is_key(&part)) {
        let parts: Vec<_> = path.split('/').map(|part| if is_key(&part) { HIDDEN } else { part }).collect();
        url.set_path(&parts.join("/"));
    }
    url.set_fragment(None);
    // What has nothing to hide stays as it was written.
    match url.as_str().contains(HIDDEN) {
        true => format!("{before}{url}").into(),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_keeps_everything_but_what_could_be_a_secret() {
        for (text, expected) in [
            ("http://127.0.0.1:39001/mcp", "http://127.0.0.1:39001/mcp"),
            ("https://mcp.example.com", "https://mcp.example.com"),
            ("/home/ada/notes.clarity", "/home/ada/notes.clarity"),
            ("https://mcp.example.com/mcp?api_key=s3cret&team=x", "https://mcp.example.com/mcp?api_key=***&team=***"),
            ("https://mcp.example.com/mcp?s3cret", "https://mcp.example.com/mcp?***"),
            ("https://ada:s3cret@mcp.example.com/mcp", "https://***@mcp.example.com/mcp"),
            ("https://mcp.example.com/s/NmQ3YjAtZjI4Mi00s3cret/mcp", "https://mcp.example.com/s/***/mcp"),
            ("--url=https://mcp.example.com/?k=s3cret", "--url=https://mcp.example.com/?k=***"),
            ("https://[s3cret", "***"),
        ] {
            assert_eq!(without_url_secrets(text), expected);
        }
    }

    #[test]
    fn no_secret_of_an_origin_is_shown() {
        let manifest = |source: &str, origin: Value| -> Manifest {
            serde_json::from_value(json!({
                "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
                "metadata": { "sourceFile": source, "module": "docs", "serviceType": "mcp" },
                "spec": {
                    "origin": origin, "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" },
                    "policyRef": "default",
                },
            }))
            .unwrap()
        };
        let endpoint = "https://mcp.example.com/mcp?key=s3cret";
        let remote = json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" });
        let args = [
            "-y",
            "mcp-remote",
            endpoint,
            "--token",
            "s3cret",
            "--api-key=s3cret",
            "--header",
            "Authorization: Bearer s3cret",
        ];
        let env = json!([{ "name": "KEY", "value": "s3cret" }]);
        let program = json!({ "type": "stdio_mcp", "command": "npx", "args": args, "env": env });
        for (source, origin) in [(endpoint, remote), ("npx", program)] {
            let shown = serde_json::to_string(&without_secrets(manifest(source, origin))).unwrap();
            assert!(!shown.contains("s3cret"), "{shown}");
            assert!(shown.contains("mcp.example.com"), "{shown}");
        }
    }
}
