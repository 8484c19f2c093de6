//! The ACP agents that are known by their ids: how each is started, and what it does that the protocol does not tell.

/// An agent that is known without being configured.
#[derive(Debug)]
pub struct Preset {
    /// Its id in `[runtimes.<id>]` and in `--runtime`.
    pub id: &'static str,
    /// Its name for people.
    pub display_name: &'static str,
    /// Its program, to be found in `PATH`.
    pub program: &'static str,
    /// The arguments that make it speak ACP on its stdin and stdout, and ask before it acts.
    pub args: &'static [&'static str],
    /// How a person installs it.
    pub install: &'static str,
    /// How a person logs in to it.
    pub login: &'static str,
    /// It prints its version when it is asked with `--version`; else it is known when the agent has introduced itself.
    pub prints_version: bool,
    /// What was seen of it.
    pub observed: Observed,
}

/// What an agent does, where its own words do not tell; seen in runs of the real agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// It puts questions to its user.
    pub asks_questions: bool,
    /// It tells the tokens of a turn, not only how full its context is.
    pub counts_tokens: bool,
    /// It asks about a second tool call while the first waits.
    pub asks_in_parallel: bool,
    /// It goes on after a tool call was refused; else the refusal ends its turn.
    pub outlives_refusals: bool,
    /// It ends the tool that runs when its turn is cancelled; else the whole agent has to go.
    pub ends_tools_on_cancel: bool,
    /// It takes the address of a linked file for a path as it stands, and loses an image that comes with one.
    pub reads_links_as_paths: bool,
    /// It leaves when its stdin closes; else it is not waited for.
    pub leaves_with_stdin: bool,
    /// Fields of a tool call's input that are not part of it, such as ids and times that differ with every call, and the
    /// answers that may be given. A field that differs between the request and the run would be another call.
    pub not_input: &'static [&'static str],
    /// The field of a tool call's raw output that is the tool's own output, where there is one.
    pub output_field: Option<&'static str>,
}

impl Observed {
    /// An agent that does everything that the protocol allows; what is assumed of one that is configured by hand.
    pub const ALL: Self = Self {
        asks_questions: true,
        counts_tokens: true,
        asks_in_parallel: true,
        outlives_refusals: true,
        ends_tools_on_cancel: true,
        reads_links_as_paths: false,
        leaves_with_stdin: true,
        not_input: &[],
        output_field: None,
    };
    /// An agent that nobody here has run yet: nothing is claimed that it might not do.
    const NOT_YET: Self = Self { asks_questions: false, counts_tokens: false, asks_in_parallel: false, ..Self::ALL };
}

/// Every preset, in the order in which they are shown.
pub const PRESETS: [Preset; 6] = [
    Preset {
        id: "claude-agent-acp",
        display_name: "Claude Code (ACP)",
        program: "claude-agent-acp",
        args: &[],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        login: "run `claude auth login` of Claude Code, whose login it uses, or set ANTHROPIC_API_KEY in its `env`",
        prints_version: false,
        // 0.49.0: the question tool is not offered to the model, and one call asks after the other.
        observed: Observed { asks_questions: false, asks_in_parallel: false, ..Observed::ALL },
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
        // 0.16.0: the only way to say no is "abort". Not its successor of the same name, `@agentclientprotocol/codex-acp`
        // 2.6.0: none of its modes asks before a command runs in its sandbox, it does not tell of such a command, and the
        // policy by which this one asks about everything is an error there. Nobody could decide what it may do.
        observed: Observed {
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
        observed: Observed::NOT_YET,
    },
    Preset {
        id: "copilot",
        display_name: "GitHub Copilot CLI",
        program: "copilot",
        args: &["--acp", "--stdio"],
        install: "npm install -g @github/copilot",
        login: "run `copilot` and type /login, or set COPILOT_GITHUB_TOKEN in its `env`",
        prints_version: true,
        observed: Observed::NOT_YET,
    },
    Preset {
        id: "goose",
        display_name: "Goose",
        program: "goose",
        args: &["acp"],
        install: "install the Goose CLI 1.8 or later from its releases",
        login: "run `goose configure`, or set GOOSE_PROVIDER and the key of that provider in its `env`",
        prints_version: true,
        observed: Observed::NOT_YET,
    },
    Preset {
        id: "cline",
        display_name: "Cline",
        program: "cline",
        args: &["--acp"],
        install: "npm install -g cline",
        login: "run `cline auth`",
        prints_version: true,
        observed: Observed::NOT_YET,
    },
];

/// The preset of this id.
pub fn preset(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}
