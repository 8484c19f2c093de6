//! Nothing that Roost starts tries to reach anything but the model: every agent through its adapter, with words and with
//! a tool, in a network that has nothing but `lo`.

use testkit::agents::Agent;
use testkit::network::{attempts, run_alone};

use crate::kit::{answer, of_type, session_id};
use crate::sandbox::Sandbox;

/// Tells the test inside which agent it is about.
const AGENT: &str = "ROOST_TEST_AGENT";

fn stays_on_the_machine(agent: Agent) {
    run_alone("egress::in_a_network_of_its_own", &[(AGENT, agent.command())]);
}

#[test]
fn roost_with_claude_stays_on_the_machine() {
    stays_on_the_machine(Agent::Claude);
}

#[test]
fn roost_with_codex_stays_on_the_machine() {
    stays_on_the_machine(Agent::Codex);
}

#[test]
fn roost_with_gemini_stays_on_the_machine() {
    stays_on_the_machine(Agent::Gemini);
}

#[test]
fn roost_with_opencode_stays_on_the_machine() {
    stays_on_the_machine(Agent::OpenCode);
}

#[test]
fn roost_with_claude_agent_acp_stays_on_the_machine() {
    stays_on_the_machine(Agent::ClaudeAcp);
}

#[test]
fn roost_with_codex_acp_stays_on_the_machine() {
    stays_on_the_machine(Agent::CodexAcp);
}

#[test]
#[ignore = "not a test: what the tests above run in a network of its own"]
fn in_a_network_of_its_own() {
    let command = std::env::var(AGENT).unwrap();
    let agent = Agent::ALL.into_iter().find(|agent| agent.command() == command).unwrap();
    assert_eq!(attempts(), [0, 0, 0], "the network is not new");
    let sandbox = Sandbox::new(agent);
    sandbox.configure("");
    let events = sandbox.run("yolo", "SCRIPT:text", 0);
    assert!(answer(&events).contains("Hello from the scripted model"), "{events:#?}");
    let events = sandbox.go_on(&session_id(&events), "SCRIPT:shell", 0);
    assert_eq!(of_type(&events, "tool.call.completed").len(), 1, "{events:#?}");
    sandbox.instance.assert_nothing_left();
    assert_eq!(attempts(), [0, 0, 0], "it tried to reach something: IPv4 or IPv6 without a route, UDP to a port");
    // The counters do count.
    assert!(std::net::TcpStream::connect("192.0.2.1:80").is_err());
    assert_eq!(attempts(), [1, 0, 0]);
}
