//! No agent tries to reach anything but the model when it runs by itself. What Roost starts is watched in Roost's tests.

use testkit::agents::{Agent, Sandbox};
use testkit::model::ModelServer;
use testkit::network::{attempts, run_alone};

use crate::one_shot::{TEXT, one_shot, run};

const AGENTS: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::OpenCode];

#[test]
fn no_agent_tries_to_leave_the_machine() {
    run_alone("egress::in_a_network_of_its_own", &[]);
}

#[test]
#[ignore = "not a test: what the test above runs in a network of its own"]
fn in_a_network_of_its_own() {
    assert_eq!(attempts(), [0, 0, 0], "the network is not new");
    let model = ModelServer::start();
    for agent in AGENTS {
        let before = attempts();
        let sandbox = Sandbox::new(&model.url());
        let said = run(&mut one_shot(&sandbox, agent, &model, "SCRIPT:text"));
        assert!(said.contains(TEXT), "{said}");
        assert_eq!(
            attempts(),
            before,
            "{agent:?} tried to reach something: IPv4 or IPv6 without a route, UDP to a port"
        );
    }
    // The counters do count.
    assert!(std::net::TcpStream::connect("192.0.2.1:80").is_err());
    assert_eq!(attempts(), [1, 0, 0]);
}
