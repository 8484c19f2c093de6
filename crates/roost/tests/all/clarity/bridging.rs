//! `clarityctl gateway serve --stdio` with a daemon at a URL: what services say unasked arrives, calls run beside each other, and
//! a cancelled one ends.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use super::{HELLO, TOKEN, clarityd, program};
use crate::kit::{RoostInstance, RunningCommand, script};

/// Nobody is there to answer.
const RULES: &str = "[[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__slow__jot'\n\
    [[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__fast__jot'\n";

/// A server whose tool answers when somebody writes into the file that it is given, or at once.
const SERVER: &str = r#"while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"tools/list"'*) answer='"result":{"tools":[{"name":"jot","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) [ -z "$1" ] || read -r word < "$1"
        answer='"result":{"content":[{"type":"text","text":"one \u00b7 two"}],"zeta":1.0,"alpha":{"b":1,"a":2}}' ;;
    *) answer='"result":{}' ;;
    esac
    [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done"#;

/// A daemon with both services, a client of it elsewhere, and the file that the slow service waits for.
struct Bridged {
    instance: RoostInstance,
    _elsewhere: RoostInstance,
    daemon: RunningCommand,
    client: RunningCommand,
}

impl Bridged {
    fn open() -> Self {
        let (instance, elsewhere) = (RoostInstance::new(), RoostInstance::new());
        instance.configure(RULES);
        let (daemon, url) = clarityd(&instance);
        let args = ["gateway", "serve", "--stdio", "--daemon-url", &url, "--auth-token", TOKEN];
        let client = RunningCommand::new(program(&elsewhere, "clarityctl", &args).stdin(Stdio::piped()));
        script(&instance.work().join("notes.sh"), SERVER);
        Self { instance, _elsewhere: elsewhere, daemon, client }
    }

    fn add(&self, module: &str, args: &[&str]) {
        let server = self.instance.work().join("notes.sh").display().to_string();
        let add = ["services", "add-stdio", "--module", module, "--", &server];
        self.instance.run(&[&add[..], args].concat()).ended(0);
    }

    /// Adds the two services; returns the file that the slow one waits for.
    fn add_both(&self) -> String {
        let fifo = self.instance.work().join("fifo").display().to_string();
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        self.add("slow", &[&fifo]);
        self.add("fast", &[]);
        fifo
    }

    fn shake_hands(&mut self) {
        self.client.write_line(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{HELLO}}}"#));
        self.client.lines_to("\"id\":1");
        self.client.write_line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    fn call(&mut self, id: u64, module: &str) {
        let params = json!({ "name": format!("{module}__jot"), "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.client.write_line(&call.to_string());
    }

    fn close(self) {
        self.client.finish().ended(0);
        self.daemon.signal(Signal::TERM);
        self.daemon.finish().ended(0);
        self.instance.assert_nothing_left();
    }
}

#[test]
fn what_the_gateway_says_outside_of_answers_arrives() {
    let mut bridged = Bridged::open();
    bridged.shake_hands();
    bridged.add("fast", &[]);
    bridged.client.lines_to("notifications/tools/list_changed");
    bridged.close();
}

#[test]
fn a_slow_call_keeps_no_other_waiting_and_answers_come_as_the_service_wrote_them() {
    let mut bridged = Bridged::open();
    let fifo = bridged.add_both();
    bridged.shake_hands();
    bridged.call(2, "slow");
    bridged.call(3, "fast");
    let answer = bridged.client.lines_to("\"id\":3").pop().unwrap();
    assert!(answer.contains(r#""text":"one \u00b7 two"}],"zeta":1.0,"alpha":{"b":1,"a":2}"#), "{answer}");
    fs::write(&fifo, "go on\n").unwrap();
    bridged.client.lines_to("\"id\":2");
    bridged.close();
}

#[test]
fn a_cancelled_call_of_the_newest_revision_ends_at_the_gateway() {
    let mut bridged = Bridged::open();
    bridged.add_both();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let params = json!({ "name": "slow__jot", "arguments": {}, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    bridged.client.write_line(&call.to_string());
    let cancel = json!({ "requestId": 7, "_meta": meta });
    bridged
        .client
        .write_line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }).to_string());
    // Nobody ever writes what the service waits for, so the bridge ends only because the call has.
    bridged.close();
}
