use std::num::{NonZeroU32, NonZeroUsize};

use roost_cli::Tls;
use roost_model::registry::RuntimeStatus;
use roost_process::Isolation;

use super::sections::{Daemon, Gateway, Limits, Log, Policy, Runtime, Security, Server, Sessions, Wasm, Workspaces};
use super::*;

fn variables(variables: &[(&str, &str)]) -> impl Iterator<Item = (OsString, OsString)> {
    variables.iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>().into_iter()
}

fn with(text: &str, set: &[(&str, &str)]) -> Result<Config, Error> {
    Config::parse(text).unwrap().with(text, variables(set))
}

#[test]
fn nothing_configured_means_the_defaults() {
    let config = Config::parse("").unwrap();
    assert_eq!((config.sessions.max.get(), config.sessions.idle_timeout_minutes), (32, 30));
    assert_eq!((config.server.host.to_string(), config.server.port), ("127.0.0.1".into(), 8766));
    assert!(config.security.require_auth);
    assert_eq!(config, Config::default());
}

/// A configuration in which every key has another value than by default.
fn everything() -> Config {
    let goose = Runtime {
        command: Some("goose".into()),
        url: None,
        args: vec!["acp".into()],
        env: [("GOOSE_MODE".into(), "auto".into())].into(),
        status: RuntimeStatus::Preview,
        display_name: Some("Goose".into()),
        isolation: Some(Isolation::Namespaced),
        model: Some("big-1".into()),
        ..Runtime::default()
    };
    let config = serde_json::Map::from_iter([("theme".to_owned(), "dark".into())]);
    let gemini = Runtime { config, ..Runtime::default() };
    let demo = Runtime { status: RuntimeStatus::Disabled, ..Runtime::default() };
    let opencode = Runtime { url: Some("http://127.0.0.1:4096".parse().unwrap()), ..Runtime::default() };
    Config {
        default_runtime: Some("goose".into()),
        server: Server {
            host: [0, 0, 0, 0].into(),
            port: 0,
            repo: Some("/src/app".into()),
            discover_in: Some(vec!["/src".into()]),
            external_url: Some("https://roost.example".into()),
            tls: Some(Tls::Files { cert: "a.pem".into(), key: "b.pem".into() }),
            allow_insecure: true,
            acp_protocol_v2: true,
        },
        security: Security {
            require_auth: false,
            require_pairing_approval: true,
            pairing_token_expiry_secs: 60,
            allowed_origins: vec!["https://a.example".into(), "*.b.example".into()],
            allowed_hosts: vec!["roost.example".into()],
            hide_state: HideState::On,
            trusted_files: [("/src/app/.mcp.json".into(), "sha256:0".into())].into(),
        },
        workspaces: Workspaces { roots: Some(vec!["/src".into()]) },
        limits: Limits {
            changes_per_minute: 1,
            starts_per_minute: 2,
            uploads_per_minute: 7,
            upload_mb: NonZeroU32::new(8).unwrap(),
            uploads_kept: NonZeroU32::new(9).unwrap(),
            uploads_total_mb: NonZeroU32::new(10).unwrap(),
            upload_minutes: NonZeroU32::new(11).unwrap(),
            reads_per_minute: 3,
            sockets_per_token: 4,
            max_body_bytes: 5,
            max_frame_bytes: 6,
            unfinished_bytes: 12,
            connections: 13,
            connections_per_address: 14,
            request_seconds: NonZeroU32::new(15).unwrap(),
        },
        daemon: Daemon { idle_exit_minutes: 1, log_max_mb: 2, log_files: 3 },
        sessions: Sessions {
            max: NonZeroUsize::new(3).unwrap(),
            when_full: WhenFull::Reject,
            idle_timeout_minutes: 5,
            max_context_chars: 100_000,
        },
        policy: Policy {
            allow_yolo: true,
            rules: vec![roost_policy::Rule::new(roost_policy::Effect::Deny)],
            approval_timeout_minutes: 7,
        },
        gateway: Gateway {
            attach: false,
            record_arguments: true,
            approve_new_tools: true,
            probe_seconds: NonZeroU32::new(5).unwrap(),
            allowed_hosts: Some(vec!["mcp.example".into()]),
            secrets: Some("/secrets".into()),
        },
        budgets: Budgets { calls: 1, tokens: 2, cost_usd: 0.5, when_exceeded: WhenExceeded::Ask },
        wasm: Wasm {
            timeout_ms: NonZeroU32::new(1),
            fuel_millions: NonZeroU32::new(2).unwrap(),
            memory_mb: NonZeroU32::new(3).unwrap(),
            max_memory_mb: NonZeroU32::new(4).unwrap(),
            table_elements: NonZeroU32::new(10).unwrap(),
            stack_kb: NonZeroU32::new(11).unwrap(),
            output_kb: NonZeroU32::new(5).unwrap(),
            concurrency: NonZeroU32::new(6).unwrap(),
            instances: NonZeroU32::new(7).unwrap(),
            artifact_mb: NonZeroU32::new(8).unwrap(),
            cache_mb: NonZeroU32::new(9).unwrap(),
            allow_models: vec!["claude-*".into()],
            anthropic_url: "http://127.0.0.1:1".into(),
            anthropic_key: Some("keyring:anthropic".into()),
            openai_url: "http://127.0.0.1:2".into(),
            openai_key: Some("env:OPENAI_API_KEY".into()),
            allow_hosts: vec!["example.com".into()],
            read_folders: vec!["/data".into()],
            write_folders: vec!["/out".into()],
            allow_secrets: vec!["TOKEN".into()],
            allow_tools: vec!["docs__*".into()],
            allow_questions: true,
            allow_clock: true,
            allow_random: true,
        },
        log: Log { synchronous: Synchronous::Full, retention_days: 7, retention_gb: 1 },
        runtimes: [("demo", demo), ("gemini", gemini), ("goose", goose), ("opencode", opencode)]
            .map(|(id, runtime)| (id.to_owned(), runtime))
            .into(),
    }
}

#[test]
fn every_key_is_understood_in_the_file() {
    let text = toml::to_string(&everything()).unwrap();
    assert_eq!(Config::parse(&text).unwrap(), everything(), "{text}");
}

#[test]
fn every_key_is_understood_in_the_environment() {
    let expected = toml::Table::try_from(everything()).unwrap();
    let value = |key: &keys::Key| match &key.section {
        Some(section) => expected[section][&key.name].clone(),
        None => expected[&key.name].clone(),
    };
    let text = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        value => serde_json::to_string(&value).unwrap(),
    };
    let set: Vec<_> = keys::keys().iter().map(|key| (key.variable(), text(value(key)))).collect();
    let set: Vec<_> = set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(with("", &set).unwrap(), everything());
}

#[test]
fn the_environment_counts_before_the_file_and_leaves_the_rest_as_it_is() {
    let file = "[server]\nport = 1\nhost = '::1'\n[security]\nallowed_hosts = ['a']";
    let table = [
        (&[][..], 1, &["a"][..]),
        (&[("ROOST_SERVER_PORT", "2")], 2, &["a"]),
        (&[("ROOST_SERVER_PORT", "")], 1, &["a"]),
        (&[("ROOST_SECURITY_ALLOWED_HOSTS", "b, c")], 1, &["b", "c"]),
        (&[("ROOST_SECURITY_ALLOWED_HOSTS", r#"["b,c"]"#)], 1, &["b,c"]),
        (&[("ROOST_STATE", "/x"), ("ROOST_RUN", "run_1"), ("ROOST_LOG", "debug"), ("SERVER_PORT", "3")], 1, &["a"]),
    ];
    for (set, port, hosts) in table {
        let config = with(file, set).unwrap();
        assert_eq!(config.server.port, port, "{set:?}");
        assert_eq!(config.security.allowed_hosts, hosts, "{set:?}");
        assert_eq!(config.server.host.to_string(), "::1");
    }
}

#[test]
fn a_variable_that_is_wrong_is_named_with_what_was_meant() {
    let table = [
        ("ROOST_SERVER_PROT", "1", "did you mean ROOST_SERVER_PORT?"),
        ("ROOST_SERVER_PORT", "many", "ROOST_SERVER_PORT: invalid type"),
        (
            "ROOST_SERVER_PORT",
            "70000",
            "ROOST_SERVER_PORT: invalid value: integer `70000`, expected a whole number from 0 to 65535",
        ),
        ("ROOST_SESSIONS_WHEN_FULL", "queu", "unknown variant `queu`"),
        ("ROOST_RUNTIMES_GOOSE_COMMAND", "goose", "ROOST_RUNTIMES_GOOSE_COMMAND sets nothing"),
        ("ROOST_RUNTIMES", r#"{"kimi":{}}"#, "needs a `command`"),
        ("ROOST_SERVER_TLS", "maybe", "ROOST_SERVER_TLS: \"maybe\" is neither"),
    ];
    for (name, value, part) in table {
        let error = with("", &[(name, value)]).unwrap_err().to_string();
        assert!(error.contains(part), "{name}={value}: {error}");
    }
}

#[test]
fn an_error_names_what_is_wrong_and_what_was_meant() {
    let table = [
        ("defualt_runtime = \"demo\"", &["defualt_runtime", "did you mean `default_runtime`?"][..]),
        ("[sesions]\nmax = 1", &["sesions", "did you mean `sessions`?"]),
        ("[server]\nprot = 1", &["line 2", "prot", "did you mean `port`?"]),
        ("[runtimes.codex]\nurl = 'http://127.0.0.1:1'", &["codex", "only `opencode`"]),
        ("[runtimes.opencode]\nurl = 'http://127.0.0.1:1'\nargs = ['x']", &["`url`", "remove `args`"]),
        ("[runtimes.opencode]\nurl = 'localhost'", &["line 2", "http://HOST:PORT"]),
        ("[runtimes.x]\ncomand = \"x\"", &["line 2", "comand", "did you mean `command`?"]),
        ("[sessions]\nwhen_full = \"queu\"", &["queu", "did you mean `queue`?"]),
        ("[sessions]\nmax = 0", &["line 2", "nonzero"]),
        ("[server]\nport = \"x\"", &["line 2", "expected a whole number from 0 to 65535"]),
        ("[server]\nhost = \"here\"", &["line 2", "IP address"]),
        ("[log]\nzzzzzzzzzzzzzzzzzzzz = 1", &["zzzz", "expected one of"]),
        ("[runtimes.x]\n", &["[runtimes.x]", "command"]),
        ("[runtimes.claude]\n[runtimes.claude-code]\n", &["[runtimes.claude-code] is [runtimes.claude] again"]),
        ("[runtimes.demo]\ncommand = \"x\"", &["demo", "another id"]),
        ("[runtimes.demo]\nargs = ['x']", &["demo", "`args`", "another id"]),
        ("[runtimes.demo]\nmodel = 'x'", &["demo", "`model`"]),
        ("[runtimes.demo]\ndisplay_name = 'x'", &["demo", "`display_name`"]),
        ("[runtimes.demo.env]\nA = '1'", &["demo", "`env`"]),
        ("[runtimes.demo.config]\na = 1", &["demo", "`config`"]),
        ("[runtimes.goose.config]\na = 1", &["[runtimes.goose]", "`config`", "`args`", "`env`"]),
        ("[runtimes.x]\ncommand = 'x'\nconfig = { a = 1 }", &["[runtimes.x]", "`config`", "`args`", "`env`"]),
        ("[runtimes.\"a b\"]\ncommand = \"x\"", &["a b", "cannot name"]),
        ("max =", &["line 1"]),
    ];
    for (text, parts) in table {
        let error = Config::parse(text).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{text:?}: {part:?} is not in {error:?}");
        }
    }
}
