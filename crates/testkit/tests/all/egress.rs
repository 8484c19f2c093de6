//! No agent tries to reach anything but the model: in a network that has nothing but `lo`, the kernel counts what it
//! could not send.

use std::env;
use std::fs;
use std::process::Command;

use testkit::agents::{Agent, Sandbox};
use testkit::model::ModelServer;

use crate::one_shot::{TEXT, one_shot, run};

const AGENTS: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::OpenCode];

#[test]
fn no_agent_tries_to_leave_the_machine() {
    let mut inside = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        inside.arg("--map-root-user");
    }
    inside.args(["--net", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]).arg(env::current_exe().unwrap());
    inside.args(["--exact", "--ignored", "--nocapture", "egress::in_a_network_of_its_own"]);
    let output = inside.output().expect("unshare of util-linux is installed");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\nThis test needs a network namespace of its own (unshare, ip): run it as root, or allow user namespaces."
    );
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

/// What was sent where no route leads, over IPv4 and IPv6, and datagrams sent at all: a name server may be on `lo`.
fn attempts() -> [u64; 3] {
    let (four, six) = (read("/proc/self/net/snmp"), read("/proc/self/net/snmp6"));
    let in_table = |protocol: &str, counter: &str| {
        let mut rows = four.lines().filter_map(|line| line.strip_prefix(protocol)).map(str::split_whitespace);
        let (names, mut values) = (rows.next().unwrap(), rows.next().unwrap());
        values.nth(names.into_iter().position(|name| name == counter).unwrap()).unwrap().parse().unwrap()
    };
    let six = six.lines().find_map(|line| line.strip_prefix("Ip6OutNoRoutes")).unwrap();
    [in_table("Ip:", "OutNoRoutes"), six.trim().parse().unwrap(), in_table("Udp:", "OutDatagrams")]
}

fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"))
}
