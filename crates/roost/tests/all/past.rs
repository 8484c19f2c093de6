//! Sessions that were begun with the agents themselves, in a terminal: found, gone on with and watched through Roost.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::agents::{Agent, variables, write_settings};

use crate::codex::MODEL;
use crate::kit::{PATIENCE, RoostInstance, answer, of_type, session_id};

/// The model that Gemini is told to use; else it would ask which one.
const GEMINI: &str = "gemini-2.5-pro";

/// A real agent in an instance of its own, and how its command is used without Roost.
struct Bare {
    instance: RoostInstance,
    agent: Agent,
    /// A prompt to a new session.
    new: &'static [&'static str],
    /// A prompt to this session.
    go_on: fn(&str) -> Vec<String>,
}

impl Bare {
    fn claude() -> Self {
        let go_on = |id: &str| ["-p", "--resume", id].map(String::from).into();
        Self::new(Agent::Claude, &["-p"], go_on)
    }

    fn codex() -> Self {
        let go_on = |id: &str| ["exec", "--skip-git-repo-check", "resume", id].map(String::from).into();
        Self::new(Agent::Codex, &["exec", "--skip-git-repo-check"], go_on)
    }

    fn gemini() -> Self {
        let go_on = |id: &str| ["--model", GEMINI, "--resume", id, "-p"].map(String::from).into();
        Self::new(Agent::Gemini, &["--model", GEMINI, "-p"], go_on)
    }

    fn opencode() -> Self {
        // Else the model would be asked for a title.
        Self::new(Agent::OpenCode, &["run", "--title", "SCRIPT:text"], |id| {
            ["run", "--session", id].map(String::from).into()
        })
    }

    fn new(agent: Agent, new: &'static [&'static str], go_on: fn(&str) -> Vec<String>) -> Self {
        let instance = RoostInstance::new();
        write_settings(&instance.home(), &MODEL.url());
        let of_roost = ["HOME", "PATH"];
        let env = variables(agent, &instance.home(), &MODEL.url()).into_iter();
        let env: serde_json::Map<_, _> =
            env.filter(|(name, _)| !of_roost.contains(name)).map(|(name, value)| (name.into(), value.into())).collect();
        let mut runtime = json!({ "command": agent.program(), "env": env });
        if agent == Agent::Gemini {
            runtime["model"] = GEMINI.into();
        }
        instance.configure(&toml::to_string(&json!({ "runtimes": { agent.command(): runtime } })).unwrap());
        Self { instance, agent, new, go_on }
    }

    fn command(&self, args: impl IntoIterator<Item = String>, prompt: &str) -> Command {
        let mut command = Command::new(self.agent.program());
        command.env_clear().envs(variables(self.agent, &self.instance.home(), &MODEL.url()));
        command.current_dir(self.instance.work()).args(args).arg(prompt).stdin(Stdio::null());
        command
    }

    /// Says something with the bare command and waits for the answer.
    fn say(&self, args: impl IntoIterator<Item = String>, prompt: &str) {
        let output = self.command(args, prompt).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn begin(&self, prompt: &str) {
        self.say(self.new.iter().map(ToString::to_string), prompt);
    }

    /// All sessions that are listed here.
    fn listed(&self) -> Vec<Value> {
        let list = self.instance.run(&["sessions", "--all", "--json"]).ended(0);
        assert_eq!(list.stderr, "");
        list.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn is_listed_and_gone_on_with(&self) {
        self.begin("SCRIPT:text");
        let listed = self.listed();
        let [past] = listed.as_slice() else { panic!("{listed:?}") };
        assert_eq!((&past["source"], &past["title"]), (&json!("history"), &json!("SCRIPT:text")));
        let id = past["session_id"].as_str().unwrap();
        let table = self.instance.run(&["sessions", "--all"]).ended(0).stdout;
        assert!(table.contains(&id[..8]) && table.contains("past") && table.contains("SCRIPT:text"), "{table}");
        assert_eq!(self.instance.run(&["sessions", "--json"]).ended(0).stdout, "", "only what Roost ran");
        let log = self.instance.run(&["log", &id[..13]]).ended(0).stdout;
        assert!(log.contains("> SCRIPT:text\n"), "what is listed can be read: {log}");

        let run = self.instance.run(&["run", "--json", "--resume", &id[..13], "SCRIPT:recall"]).ended(0);
        let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
        let events = run.events(first["seq"].as_u64().unwrap());
        assert_eq!(session_id(&events), id, "it keeps its id");
        assert!(answer(&events).contains("2 prompt(s): SCRIPT:text"), "{}", answer(&events));
        assert_eq!(of_type(&events, "task.completed").len(), 1);

        let listed = self.listed();
        let [hosted] = listed.as_slice() else { panic!("one row for one session: {listed:?}") };
        assert_eq!((&hosted["source"], &hosted["session_id"]), (&json!("managed"), &json!(id)));
        assert_eq!(hosted["adopted"]["runtime_session_id"], past["runtime_session_id"]);
        let log = self.instance.run(&["log", &id[..13]]).ended(0).stdout;
        let (before, after) = (log.find("> SCRIPT:text\n"), log.find("> SCRIPT:recall\n"));
        assert!(before.is_some() && before < after, "also what was said before: {log}");
        let mut client = Client::connect(&self.instance);
        let messages = client.call("session/messages", json!({ "session_id": id }));
        let texts: Vec<_> = messages["messages"].as_array().unwrap().iter().map(|one| text(&one["message"])).collect();
        assert_eq!(texts[0], "SCRIPT:text");
        assert!(texts.contains(&"SCRIPT:recall"), "{texts:?}");
        self.instance.assert_nothing_left();
    }

    fn is_forked_and_stays_as_it_was(&self) {
        self.begin("SCRIPT:text");
        let listed = self.listed();
        let source = listed[0]["session_id"].as_str().unwrap();
        let said = |args: &[&str]| {
            let run = self.instance.run(&[&["run", "--json"], args].concat()).ended(0);
            let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
            let events = run.events(first["seq"].as_u64().unwrap());
            (session_id(&events).to_owned(), answer(&events))
        };
        let (fork, recalled) = said(&["--resume", source, "--fork", "SCRIPT:recall one"]);
        assert_ne!(fork, source);
        assert!(recalled.contains("SCRIPT:text"), "{recalled}");
        let (same, recalled) = said(&["--resume", source, "SCRIPT:recall two"]);
        assert_eq!(same, source);
        assert!(recalled.contains("SCRIPT:text") && !recalled.contains("recall one"), "{recalled}");
        let (same, recalled) = said(&["--resume", &fork, "SCRIPT:recall three"]);
        assert_eq!(same, fork);
        assert!(recalled.contains("SCRIPT:text") && recalled.contains("recall one"), "{recalled}");
        assert!(!recalled.contains("recall two"), "{recalled}");
        self.instance.assert_nothing_left();
    }

    fn is_watched_while_it_is_used_elsewhere(&self) {
        self.begin("SCRIPT:text");
        self.instance.run(&["up"]).ended(0);
        let mut client = Client::connect(&self.instance);
        let list = client.call("session/list", json!({ "cwd": self.instance.work(), "source": "history" }));
        let record = &list["sessions"][0]["record"];
        let id = record["session_id"].as_str().unwrap().to_owned();
        let native = record["runtime_session_id"].as_str().unwrap();
        client.call("events/subscribe", json!({ "format": "cdev" }));
        client.call("session/watch", json!({ "session_id": id }));
        self.say((self.go_on)(native), "SCRIPT:recall");
        let prompt = client.event("claude_message");
        assert_eq!((text(&prompt), &prompt["role"]), ("SCRIPT:recall", &json!("user")));
        let answered = client.event("claude_message");
        assert!(text(&answered).contains("2 prompt(s): SCRIPT:text"), "{answered}");
        assert_eq!(answered["session_id"], id);
        let history = client.call("session/messages", json!({ "session_id": id, "order": "desc", "limit": 1 }));
        assert_eq!(history["messages"][0]["uuid"], answered["uuid"]);
        self.instance.assert_nothing_left();
    }
}

/// The first text of a message.
fn text(message: &Value) -> &str {
    message["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_session_of_the_bare_claude_is_listed_and_goes_on_under_roost() {
    Bare::claude().is_listed_and_gone_on_with();
}

#[test]
fn a_session_of_the_bare_codex_is_listed_and_goes_on_under_roost() {
    Bare::codex().is_listed_and_gone_on_with();
}

#[test]
fn a_session_of_the_bare_gemini_is_listed_and_goes_on_under_roost() {
    Bare::gemini().is_listed_and_gone_on_with();
}

#[test]
fn a_session_of_the_bare_opencode_is_listed_and_goes_on_under_roost() {
    Bare::opencode().is_listed_and_gone_on_with();
}

#[test]
fn a_session_of_claude_is_forked_and_stays_as_it_was() {
    Bare::claude().is_forked_and_stays_as_it_was();
}

#[test]
fn a_session_of_codex_is_forked_and_stays_as_it_was() {
    Bare::codex().is_forked_and_stays_as_it_was();
}

#[test]
fn a_session_of_gemini_is_forked_and_stays_as_it_was() {
    Bare::gemini().is_forked_and_stays_as_it_was();
}

#[test]
fn a_session_of_opencode_is_forked_and_stays_as_it_was() {
    Bare::opencode().is_forked_and_stays_as_it_was();
}

#[test]
fn a_client_sees_what_is_said_to_the_bare_claude_elsewhere() {
    Bare::claude().is_watched_while_it_is_used_elsewhere();
}

#[test]
fn a_client_sees_what_is_said_to_the_bare_codex_elsewhere() {
    Bare::codex().is_watched_while_it_is_used_elsewhere();
}

#[test]
fn a_client_sees_what_is_said_to_the_bare_gemini_elsewhere() {
    Bare::gemini().is_watched_while_it_is_used_elsewhere();
}

#[test]
fn a_client_sees_what_is_said_to_the_bare_opencode_elsewhere() {
    Bare::opencode().is_watched_while_it_is_used_elsewhere();
}

#[test]
fn a_past_session_that_nobody_knows_is_an_error_that_tells_where_to_look() {
    let instance = RoostInstance::new();
    let done = instance.run(&["run", "--resume", "nope", "hello"]).ended(2);
    assert!(done.stderr.contains("no session \"nope\""), "{done:#?}");
}

/// A client over the daemon's socket that reads every line.
struct Client {
    lines: BufReader<UnixStream>,
    events: Vec<Value>,
}

impl Client {
    fn connect(instance: &RoostInstance) -> Self {
        let stream = UnixStream::connect(instance.state().join("roost.sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Self { lines: BufReader::new(stream), events: Vec::new() };
        client.call("initialize", json!({}));
        client
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.lines.get_mut(), "{call}").unwrap();
        loop {
            let message = self.next();
            if message.get("id").is_some() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn event(&mut self, name: &str) -> Value {
        loop {
            let message = if self.events.is_empty() { self.next() } else { self.events.remove(0) };
            if message["method"] == format!("event/{name}") {
                return message["params"].clone();
            }
        }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}
