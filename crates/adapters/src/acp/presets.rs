//! The ACP agents that can be used by their id alone: how each is started, and how it behaves beyond the protocol.

use roost_engine::facts::RuntimeFacts;
use roost_model::payload::ToolKind;
use serde_json::Value;

use super::facts::FACTS;
use crate::tested_versions;

/// An agent that needs no configuration.
#[derive(Debug)]
pub struct Preset {
    /// The id in `[runtimes.<id>]` and in `--runtime`.
    pub id: &'static str,
    /// The name that is shown to people.
    pub display_name: &'static str,
    /// The name of the program, which is looked up in `PATH`.
    pub program: &'static str,
    /// The arguments that make it speak ACP on its stdin and stdout, and ask before it acts.
    pub args: &'static [&'static str],
    /// The advice for people when the program is missing.
    pub install: &'static str,
    /// The advice for people when a login is missing.
    pub login: &'static str,
    /// Whether `--version` prints the version. Otherwise the version is known after the first handshake.
    pub prints_version: bool,
    /// What the rest of Roost must know about it: the facts about every ACP agent, and which versions were tested.
    pub facts: &'static RuntimeFacts,
    /// How the agent was observed to behave.
    pub profile: AgentProfile,
}

/// How an agent behaves where its handshake does not tell, as observed in runs of the real agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentProfile {
    /// It asks the user questions with forms (elicitation).
    pub asks_questions: bool,
    /// It reports the tokens of a turn, not only how full its context is.
    pub counts_tokens: bool,
    /// It asks about a second tool call while the first still waits for a decision.
    pub asks_in_parallel: bool,
    /// It goes on after a tool call was denied. Otherwise the denial ends its turn.
    pub outlives_refusals: bool,
    /// It ends the running tool when its turn is cancelled. Otherwise Roost stops the whole process.
    pub ends_tools_on_cancel: bool,
    /// It reads the URI of a linked file as a plain path, so the path is not percent-encoded; and it loses an image
    /// that is sent beside a link, so the image is embedded as a resource.
    pub reads_links_as_paths: bool,
    /// It exits when its stdin closes. Otherwise it is stopped without a grace period.
    pub leaves_with_stdin: bool,
    /// Fields of a tool call's raw input to ignore, such as ids, times and the answers that may be given. They differ
    /// between the permission request and the run, which would make the run look like another call.
    pub not_input: &'static [&'static str],
    /// The field of a tool call's raw output that holds the tool's own output; `None` if the raw output is it.
    pub output_field: Option<&'static str>,
    /// Reads the tool and its input from the words of an agent that sends no raw input. Only for an agent whose words
    /// are known to be what it runs: what is shown and judged is what this returns.
    pub read_call: Option<fn(CallWords<'_>) -> Option<NamedCall>>,
    /// It shows a call's output while the call runs. Otherwise what it shows before the end explains the call.
    pub streams_output: bool,
    /// It says of every call that it runs, or asks about it, before it runs. So one that fails without that never ran:
    /// the agent's own rules or checks refused it.
    pub announces_runs: bool,
    /// The beginnings of a command's output that say that the command failed or was blocked, although the agent
    /// reports the call as completed.
    pub failure_texts: &'static [&'static str],
    /// Reads a line of stderr, for an agent whose stderr says what the protocol does not.
    pub read_stderr: fn(&str) -> StderrLine,
}

/// What an agent says about a tool call when it announces it or asks about it.
#[derive(Clone, Copy, Debug)]
pub struct CallWords<'a> {
    /// The agent's id of the call.
    pub id: &'a str,
    /// The kind of tool that the agent claims.
    pub kind: Option<ToolKind>,
    /// The latest title; empty if there is none.
    pub title: &'a str,
    /// The text that the agent shows beside its question or announcement; empty if there is none.
    pub explanation: &'a str,
}

/// What a line of an agent's stderr means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StderrLine {
    /// Recorded as it is, for whoever looks closer.
    Plain,
    /// A debugging line, which is not recorded.
    Debug,
    /// A warning for people, in these words.
    Warning(String),
}

/// A tool call that was read from [`CallWords`].
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCall {
    /// The tool's own name.
    pub name: String,
    /// The tool's input; `None` if the agent's words do not tell it, so that the words themselves are recorded.
    pub input: Option<Value>,
}

impl AgentProfile {
    /// An agent that does everything that the protocol allows; assumed for agents that are configured by hand.
    pub const CONFORMING: Self = Self {
        asks_questions: true,
        counts_tokens: true,
        asks_in_parallel: true,
        outlives_refusals: true,
        ends_tools_on_cancel: true,
        reads_links_as_paths: false,
        leaves_with_stdin: true,
        not_input: &[],
        output_field: None,
        read_call: None,
        streams_output: true,
        announces_runs: false,
        failure_texts: &[],
        read_stderr: |_| StderrLine::Plain,
    };
    /// An agent that was not run with Roost yet: no optional behaviour is claimed.
    const UNTESTED: Self =
        Self { asks_questions: false, counts_tokens: false, asks_in_parallel: false, ..Self::CONFORMING };
}

/// Every preset, in the order in which they are listed.
pub const PRESETS: [Preset; 6] = [
    Preset {
        id: "claude-agent-acp",
        display_name: "Claude Code (ACP)",
        program: "claude-agent-acp",
        args: &[],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        login: "run `claude auth login` of Claude Code, whose login it uses, or set ANTHROPIC_API_KEY in its `env`",
        prints_version: false,
        facts: &RuntimeFacts { tested: Some(tested_versions::CLAUDE_AGENT_ACP), ..FACTS },
        // 0.49.0: the question tool is not offered to the model, and one call asks after the other. 0.99.1 does ask
        // questions; they are passed on, and not claimed because the older one has none.
        profile: AgentProfile { asks_questions: false, asks_in_parallel: false, ..AgentProfile::CONFORMING },
    },
    Preset {
        id: "codex-acp",
        display_name: "Codex (ACP)",
        program: "codex-acp",
        // Without it commands run in a sandbox and nobody is asked.
        args: &["-c", "approval_policy=untrusted"],
        install: "npm install -g @zed-industries/codex-acp",
        login: "run `codex login` of Codex, whose login it uses, or set OPENAI_API_KEY in its `env`",
        prints_version: false,
        facts: &RuntimeFacts { tested: Some(tested_versions::CODEX_ACP), ..FACTS },
        // 0.16.0: the only way to say no is "abort". Not its successor of the same name,
        // `@agentclientprotocol/codex-acp` 2.6.0: none of its modes asks before a command runs in its sandbox, it does
        // not tell of such a command, and the policy by which this one asks about everything is an error there. Nobody
        // could decide what it may do.
        profile: AgentProfile {
            asks_questions: false,
            counts_tokens: false,
            asks_in_parallel: true,
            outlives_refusals: false,
            ends_tools_on_cancel: false,
            reads_links_as_paths: false,
            leaves_with_stdin: false,
            not_input: &[
                "available_decisions",
                "call_id",
                "id",
                "process_id",
                "proposed_execpolicy_amendment",
                "source",
                "started_at_ms",
                "turn_id",
            ],
            output_field: Some("aggregated_output"),
            ..AgentProfile::CONFORMING
        },
    },
    Preset {
        id: "qwen",
        display_name: "Qwen Code",
        program: "qwen",
        args: &["--acp"],
        install: "npm install -g @qwen-code/qwen-code",
        login: "run `qwen` and type /auth, or set OPENAI_API_KEY and OPENAI_BASE_URL in its `env`",
        prints_version: true,
        facts: &FACTS,
        profile: AgentProfile::UNTESTED,
    },
    Preset {
        id: "copilot",
        display_name: "GitHub Copilot CLI",
        program: "copilot",
        args: &["--acp", "--stdio"],
        install: "npm install -g @github/copilot",
        login: "run `copilot` and type /login, or set COPILOT_GITHUB_TOKEN in its `env`",
        prints_version: true,
        facts: &FACTS,
        profile: AgentProfile::UNTESTED,
    },
    Preset {
        id: "goose",
        display_name: "Goose",
        program: "goose",
        args: &["acp"],
        install: "get the Goose CLI 1.8 or later from its releases",
        login: "run `goose configure`, or set GOOSE_PROVIDER and the key of that provider in its `env`",
        prints_version: true,
        facts: &FACTS,
        profile: AgentProfile::UNTESTED,
    },
    Preset {
        id: "cline",
        display_name: "Cline",
        program: "cline",
        args: &["--acp"],
        install: "npm install -g cline",
        login: "run `cline auth`",
        prints_version: true,
        facts: &FACTS,
        profile: AgentProfile::UNTESTED,
    },
];

/// The preset of this id; `None` for an agent that has to be configured.
pub fn preset(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}
