//! The contract of adapters, kept by the demo, by an ACP agent that is as unlike it as the protocol allows, and by real
//! agents against a scripted model.

mod agents;
mod lies;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_adapters::AgentCommand;
use roost_adapters::acp::AcpAdapter;
use roost_model::runtime::RuntimeName;
use roost_process::{Holder, Ladder};
use testkit::contract::{Recall, Script, Subject, UseServer, Write};
use testkit::scripted_agent::{self, SESSIONS, WEATHER};

const ROOST: &str = env!("CARGO_BIN_EXE_roost");

testkit::contract!(demo, make_demo);
testkit::contract!(acp, make_acp);
testkit::contract!(claude, make_claude);
testkit::contract!(codex, make_codex);
testkit::contract!(gemini, make_gemini);
testkit::contract!(claude_agent_acp, make_claude_agent_acp);
testkit::contract!(codex_acp, make_codex_acp);
testkit::contract!(opencode, make_opencode);

fn holder(records: PathBuf) -> Arc<Holder> {
    Arc::new(Holder {
        program: ROOST.into(),
        args: vec!["hold".into()],
        records,
        ladder: Ladder::default(),
        wall: None,
    })
}

pub(crate) fn make_claude(records: PathBuf) -> Subject {
    agents::claude(records)
}

pub(crate) fn make_codex(records: PathBuf) -> Subject {
    agents::codex(records)
}

pub(crate) fn make_gemini(records: PathBuf) -> Subject {
    agents::gemini(records)
}

fn make_claude_agent_acp(records: PathBuf) -> Subject {
    agents::claude_agent_acp(records)
}

fn make_codex_acp(records: PathBuf) -> Subject {
    agents::codex_acp(records)
}

pub(crate) fn make_opencode(records: PathBuf) -> Subject {
    agents::opencode(records)
}

fn make_demo(records: PathBuf) -> Subject {
    let adapter = Arc::new(roost_adapters::demo::adapter(Path::new(ROOST), holder(records)));
    let script = Script {
        say: "hello",
        stream: "slow 600",
        write: Some(Write { prompt: "edit note.txt", file: "note.txt", says_why_not: true }),
        two_calls: Some("parallel 2"),
        retry: None,
        big_result: Some("out 2000"),
        read_unasked: Some("tools"),
        question: Some("ask"),
        unknown_message: Some("noise"),
        recall: Some(Recall { prompt: "resume", proof: "Prompts in this session: 2", forget: None }),
        use_server: None,
    };
    Subject { adapter, script }
}

fn make_acp(records: PathBuf) -> Subject {
    let command = AgentCommand { program: this_binary(), args: play("scripted_agent"), env: Vec::new() };
    let adapter = Arc::new(AcpAdapter::new(RuntimeName::from_id("scripted"), "Scripted", command, holder(records)));
    let forget = |home: &Path| std::fs::remove_dir_all(home.join(SESSIONS)).unwrap();
    let script = Script {
        say: "say",
        stream: "stream",
        write: Some(Write { prompt: "write note.txt", file: "note.txt", says_why_not: true }),
        two_calls: Some("two"),
        retry: Some("retry"),
        big_result: Some("big"),
        read_unasked: Some("read"),
        question: Some("question"),
        unknown_message: Some("unknown"),
        recall: Some(Recall { prompt: "recall", proof: "write note.txt", forget: Some(forget) }),
        use_server: Some(UseServer { servers: agents::weather(), prompt: "server", proof: WEATHER }),
    };
    Subject { adapter, script }
}

pub(crate) fn this_binary() -> OsString {
    std::env::current_exe().unwrap().into()
}

/// The arguments that make this binary play a part; what the test runner prints first is noise to whoever listens.
pub(crate) fn play(part: &str) -> Vec<OsString> {
    let part = format!("contract::{part}");
    ["--exact", "--ignored", "--nocapture", &part].map(Into::into).into()
}

#[test]
#[ignore = "not a test: an agent that the tests start"]
fn scripted_agent() {
    scripted_agent::main()
}

#[test]
#[ignore = "not a test: a tool server that the agent starts"]
fn tool_server() {
    scripted_agent::tool_server()
}
