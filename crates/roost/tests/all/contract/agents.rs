//! The real agents as subjects of the contract.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_adapters::AgentCommand;
use roost_adapters::acp::{AcpAdapter, preset};
use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_model::runtime::RuntimeName;
use serde_json::json;
use testkit::agents::{Agent, variables, write_settings};
use testkit::contract::{Recall, Script, Subject, UseServer, Write};
use testkit::scripted_agent::{WEATHER, tool_server_url};

use super::{holder, play, this_binary};
use crate::codex::{self, MODEL};
use crate::{gemini, opencode};

/// Claude Code.
pub(super) fn claude(records: PathBuf) -> Subject {
    let of_the_stage = ["HOME", "PATH", "TMPDIR"];
    let mut env: BTreeMap<_, _> = variables(Agent::Claude, Path::new("/"), &MODEL.url()).into_iter().collect();
    env.retain(|name, _| !of_the_stage.contains(name));
    // A key in the environment would be a login; this one is among the settings that are passed on unread.
    let settings = json!({ "env": { "ANTHROPIC_API_KEY": env.remove("ANTHROPIC_API_KEY") } });
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let command = AgentCommand { program: Agent::Claude.program().into(), args: Vec::new(), env };
    let config = settings.as_object().cloned().unwrap();
    let adapter = Arc::new(roost_adapters::claude::adapter(command, config, holder(records)));
    let forget = |home: &Path| std::fs::remove_dir_all(home.join(".claude/projects")).unwrap();
    let script = Script {
        say: "SCRIPT:text",
        stream: "SCRIPT:slow",
        write: Some(Write { prompt: "SCRIPT:shell", file: "out.txt", says_why_not: true }),
        // Claude Code runs at once what it holds for harmless; the policy has never heard of this program.
        two_calls: Some("SCRIPT:parallel RUN:numfmt"),
        retry: None,
        big_result: Some("SCRIPT:shell RUN:seq 1 4000"),
        read_unasked: None,
        question: Some("SCRIPT:ask"),
        unknown_message: None,
        recall: Some(Recall { prompt: "SCRIPT:recall", proof: "SCRIPT:shell", forget: Some(forget) }),
        use_server: Some(UseServer { servers: weather(), prompt: "SCRIPT:mcp TOOL:weather", proof: WEATHER }),
    };
    Subject { adapter, script }
}

/// Codex. Its model is one that it does not know, because those that it knows hide the tools of tool servers.
pub(super) fn codex(records: PathBuf) -> Subject {
    let tmp = records.with_file_name("tmp");
    let mut config = codex::config(&MODEL.url());
    config.insert("model".into(), "gpt-5.1-codex".into());
    let adapter = Arc::new(roost_adapters::codex::adapter(codex::command(&tmp), config, holder(records)));
    let forget = |home: &Path| std::fs::remove_dir_all(home.join(".codex/sessions")).unwrap();
    let script = Script {
        say: "SCRIPT:text",
        stream: "SCRIPT:slow",
        write: Some(Write { prompt: "SCRIPT:shell", file: "out.txt", says_why_not: false }),
        two_calls: Some("SCRIPT:parallel"),
        retry: None,
        big_result: Some("SCRIPT:big"),
        read_unasked: None,
        question: Some("SCRIPT:ask"),
        unknown_message: None,
        recall: Some(Recall { prompt: "SCRIPT:recall", proof: "SCRIPT:shell", forget: Some(forget) }),
        use_server: Some(UseServer { servers: weather(), prompt: "SCRIPT:mcp TOOL:weather", proof: WEATHER }),
    };
    Subject { adapter, script }
}

/// The Gemini CLI.
pub(super) fn gemini(records: PathBuf) -> Subject {
    let command = gemini::command(&MODEL.url());
    let adapter = Arc::new(roost_adapters::gemini::adapter(command, gemini::config(), holder(records)));
    let forget = |home: &Path| std::fs::remove_dir_all(home.join(".gemini/tmp")).unwrap();
    let script = Script {
        say: "SCRIPT:text",
        stream: "SCRIPT:slow",
        // Not a command: its result has a process id, so that no two tellings are the same.
        write: Some(Write { prompt: "SCRIPT:write", file: "out.txt", says_why_not: false }),
        two_calls: Some("SCRIPT:parallel"),
        retry: None,
        big_result: Some("SCRIPT:shell RUN:seq 1 4000"),
        read_unasked: Some("SCRIPT:ls"),
        question: None,
        unknown_message: None,
        recall: Some(Recall { prompt: "SCRIPT:recall", proof: "SCRIPT:write", forget: Some(forget) }),
        use_server: Some(UseServer { servers: weather(), prompt: "SCRIPT:mcp TOOL:weather", proof: WEATHER }),
    };
    Subject { adapter, script }
}

/// OpenCode.
pub(super) fn opencode(records: PathBuf) -> Subject {
    let config = opencode::config(&MODEL.url());
    let adapter = Arc::new(roost_adapters::opencode::adapter(opencode::command(), config, holder(records)));
    let forget = |home: &Path| std::fs::remove_dir_all(home.join(".local/share/opencode")).unwrap();
    let script = Script {
        say: "SCRIPT:text",
        stream: "SCRIPT:slow",
        write: Some(Write { prompt: "SCRIPT:shell", file: "out.txt", says_why_not: true }),
        two_calls: Some("SCRIPT:parallel"),
        retry: None,
        big_result: Some("SCRIPT:big"),
        read_unasked: None,
        question: Some("SCRIPT:ask"),
        unknown_message: None,
        recall: Some(Recall { prompt: "SCRIPT:recall", proof: "SCRIPT:shell", forget: Some(forget) }),
        use_server: Some(UseServer { servers: weather(), prompt: "SCRIPT:mcp TOOL:weather", proof: WEATHER }),
    };
    Subject { adapter, script }
}

/// Claude Code as an ACP agent.
pub(super) fn claude_agent_acp(records: PathBuf) -> Subject {
    let forget = |home: &Path| std::fs::remove_dir_all(home.join(".claude/projects")).unwrap();
    let script = Script {
        say: "SCRIPT:text",
        stream: "SCRIPT:slow",
        // The protocol has no place for a reason.
        write: Some(Write { prompt: "SCRIPT:shell", file: "out.txt", says_why_not: false }),
        two_calls: Some("SCRIPT:parallel RUN:numfmt"),
        retry: None,
        big_result: Some("SCRIPT:shell RUN:seq 1 4000"),
        read_unasked: Some("SCRIPT:shell RUN:pwd"),
        question: None,
        unknown_message: None,
        recall: Some(Recall { prompt: "SCRIPT:recall", proof: "SCRIPT:shell", forget: Some(forget) }),
        use_server: Some(UseServer { servers: weather(), prompt: "SCRIPT:mcp TOOL:weather", proof: WEATHER }),
    };
    Subject { adapter: Arc::new(acp(Agent::ClaudeAcp, &[], records)), script }
}

/// Codex as an ACP agent, with the model of [`codex`].
pub(super) fn codex_acp(records: PathBuf) -> Subject {
    let forget = |home: &Path| std::fs::remove_dir_all(home.join(".codex/sessions")).unwrap();
    let script = Script {
        say: "SCRIPT:text",
        stream: "SCRIPT:slow",
        write: Some(Write { prompt: "SCRIPT:shell", file: "out.txt", says_why_not: false }),
        two_calls: Some("SCRIPT:parallel"),
        retry: None,
        big_result: Some("SCRIPT:big"),
        read_unasked: None,
        question: None,
        unknown_message: None,
        recall: Some(Recall { prompt: "SCRIPT:recall", proof: "SCRIPT:shell", forget: Some(forget) }),
        use_server: Some(UseServer { servers: weather(), prompt: "SCRIPT:mcp TOOL:weather", proof: WEATHER }),
    };
    // Its sandbox needs a program that the pinned package does not bring.
    let args = ["-c", "model=gpt-5.1-codex", "-c", "sandbox_mode=danger-full-access"];
    Subject { adapter: Arc::new(acp(Agent::CodexAcp, &args, records)), script }
}

/// A real ACP agent as its preset starts it, in the home of the stage.
fn acp(agent: Agent, args: &[&str], records: PathBuf) -> AcpAdapter {
    let preset = preset(agent.command()).unwrap();
    let home = records.with_file_name("home");
    write_settings(&home, &MODEL.url());
    let env = variables(agent, &home, &MODEL.url()).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let args = preset.args.iter().chain(args).map(Into::into).collect();
    let command = AgentCommand { program: agent.program().into(), args, env };
    AcpAdapter::new(RuntimeName::from_id(preset.id), preset.display_name, command, holder(records)).with_preset(preset)
}

/// The tool server that agents are given, over both transports.
pub(super) fn weather() -> Vec<McpServer> {
    let stdio = McpServerTransport::Stdio {
        command: this_binary().into(),
        args: play("tool_server").into_iter().map(|word| word.into_string().unwrap()).collect(),
        env: BTreeMap::new(),
    };
    let http = McpServerTransport::Http { url: tool_server_url().into(), headers: BTreeMap::new() };
    [stdio, http].map(|transport| McpServer { name: "weather".into(), transport }).into()
}
