//! The tool servers that people have set up for their agents: used through Roost as in a terminal, and judged by it.

use std::fs;
use std::path::{Path, PathBuf};

use roost_model::canonical;
use serde_json::{Value, json};
use testkit::agents::Agent;
use testkit::scripted_agent::WEATHER;

use crate::contract::{play, this_binary};
use crate::kit::{RoostInstance, answer, of_type, script};
use crate::real;

/// The command of a tool server that tells the weather.
pub(crate) fn command() -> Vec<String> {
    [this_binary()].into_iter().chain(play("tool_server")).map(|word| word.into_string().unwrap()).collect()
}

/// The same in the form that most agents read.
fn server() -> Value {
    let command = command();
    json!({ "command": command[0], "args": command[1..] })
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Merges a document into a JSON file.
fn add(path: &Path, member: &str, value: Value) {
    let text = fs::read_to_string(path).unwrap_or_else(|_| "{}".into());
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document[member] = value;
    write(path, &document.to_string());
}

/// Runs the prompt that calls the weather's tool.
fn ask_weather(instance: &RoostInstance, agent: &[&str], mode: &str) -> Vec<Value> {
    let mut args = vec!["run", "--json", "--permission-mode", mode];
    args.extend(agent);
    args.push("SCRIPT:mcp TOOL:weather");
    instance.run(&args).ended(0).events(1)
}

/// The user's own server works, and its tool asks.
fn assert_used_and_judged(instance: &RoostInstance, agent: &[&str]) {
    let events = ask_weather(instance, agent, "yolo");
    assert!(answer(&events).contains(WEATHER), "{}", answer(&events));
    let requested = of_type(&events, "tool.call.requested");
    assert!(requested.iter().any(|event| event["payload"].to_string().contains("weather")), "{requested:#?}");
    let events = ask_weather(instance, agent, "auto");
    let denied = of_type(&events, "tool.call.denied");
    assert_eq!(denied.len(), 1, "nobody is there to say yes: {events:#?}");
    assert!(!answer(&events).contains(WEATHER), "{}", answer(&events));
}

#[test]
fn claude_uses_the_users_own_tool_server() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    add(&instance.home().join(".claude.json"), "mcpServers", json!({ "weather": server() }));
    assert_used_and_judged(&instance, &["--runtime", "claude"]);
}

#[test]
fn codex_uses_the_users_own_tool_server() {
    let instance = real::instance(Agent::Codex, "codex", &[]);
    let (config, command) = (instance.home().join(".codex/config.toml"), command());
    let text = fs::read_to_string(&config).unwrap();
    // Else Codex begins without a tool server that is slow to start.
    let grace = "mcp_optional_startup_grace_ms = 50000";
    let own = format!("[mcp_servers.weather]\ncommand = {:?}\nargs = {:?}", command[0], &command[1..]);
    write(&config, &format!("{grace}\n{text}\n{own}\n"));
    // Models that Codex knows do not see the tools of tool servers at once.
    assert_used_and_judged(&instance, &["--runtime", "codex", "--model", "gpt-5.1-codex"]);
}

#[test]
fn gemini_uses_the_users_own_tool_server() {
    let instance = real::instance(Agent::Gemini, "gemini", &[]);
    add(&instance.home().join(".gemini/settings.json"), "mcpServers", json!({ "weather": server() }));
    assert_used_and_judged(&instance, &["--runtime", "gemini", "--model", "gemini-2.5-pro"]);
}

#[test]
fn opencode_uses_the_users_own_tool_server() {
    let instance = real::instance(Agent::OpenCode, "opencode", &[]);
    let own = json!({ "weather": { "type": "local", "command": command() } });
    add(&instance.home().join(".config/opencode/opencode.json"), "mcp", own);
    assert_used_and_judged(&instance, &["--runtime", "opencode"]);
}

/// A project whose `.mcp.json` names a tool server; the server leaves a file when it is started.
struct Project {
    instance: RoostInstance,
    /// The text of `.mcp.json`.
    file: String,
}

impl Project {
    fn new() -> Self {
        let instance = real::instance(Agent::Claude, "claude", &[]);
        let program = instance.work().join("server");
        let words: Vec<_> = command().iter().map(|word| format!("'{word}'")).collect();
        script(&program, &format!("touch '{}'; exec {}", started(&instance).display(), words.join(" ")));
        let file = json!({ "mcpServers": { "weather": { "command": program } } }).to_string();
        write(&instance.work().join(".mcp.json"), &file);
        Self { instance, file }
    }

    /// Whether a session starts the server. If not, it says so.
    fn starts_server(&self) -> bool {
        let _ = fs::remove_file(started(&self.instance));
        let events = ask_weather(&self.instance, &["--runtime", "claude"], "yolo");
        let says_so = of_type(&events, "runtime.notice").iter().any(|event| {
            let message = event["payload"]["message"].as_str().unwrap();
            message.contains("nobody agreed to") && message.contains("weather")
        });
        let is_started = started(&self.instance).exists();
        assert_eq!((is_started, answer(&events).contains(WEATHER)), (!says_so, !says_so), "{events:#?}");
        is_started
    }
}

fn started(instance: &RoostInstance) -> PathBuf {
    instance.home().join("started")
}

#[test]
fn a_projects_tool_server_starts_only_if_the_user_agreed_to_it() {
    let project = Project::new();
    let (home, work) = (project.instance.home(), project.instance.work());
    assert!(!project.starts_server(), "it is only there");
    let (all, named) = (json!({ "enableAllProjectMcpServers": true }), json!({ "enabledMcpjsonServers": ["weather"] }));
    write(&work.join(".claude/settings.json"), &all.to_string());
    write(&work.join(".claude/settings.local.json"), &named.to_string());
    assert!(!project.starts_server(), "the repository agrees with itself");
    let trusted = json!({ work.display().to_string(): { "hasTrustDialogAccepted": true } });
    add(&home.join(".claude.json"), "projects", trusted);
    assert!(project.starts_server(), "agreed to in the terminal");
    fs::remove_dir_all(work.join(".claude")).unwrap();
    assert!(!project.starts_server(), "a trusted folder is no leave to start servers");
    add(&home.join(".claude/settings.json"), "enabledMcpjsonServers", json!(["weather"]));
    assert!(project.starts_server(), "the user's own settings");
}

#[test]
fn a_projects_tool_server_that_roost_was_told_to_trust_starts_until_its_file_changes() {
    let project = Project::new();
    let config = project.instance.home().join(".config/roost/roost.toml");
    let path = project.instance.work().join(".mcp.json");
    let hash = canonical::hash_bytes(project.file.as_bytes());
    let text = fs::read_to_string(&config).unwrap();
    write(&config, &format!("[security.trusted_files]\n{path:?} = {hash:?}\n{text}"));
    assert!(project.starts_server());
    write(&path, &format!("{} ", project.file));
    assert!(!project.starts_server());
}
