//! An instance in which a real agent talks to a scripted model, for tests that use it as a person does.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use testkit::agents::{Agent, bin, variables, write_settings};
use testkit::model::ModelServer;

use crate::kit::{RoostInstance, RunningCommand};

/// An instance in which one agent asks a scripted model and nobody else. Roost is told nothing of it.
pub(crate) struct Sandbox {
    pub(crate) instance: RoostInstance,
    agent: Agent,
    pub(crate) model: ModelServer,
}

impl Sandbox {
    pub(crate) fn new(agent: Agent) -> Self {
        let sandbox = Self { instance: RoostInstance::new(), agent, model: ModelServer::start() };
        write_settings(&sandbox.home(), &sandbox.model.url());
        sandbox
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.instance.state().with_file_name("home")
    }

    /// A command that finds the agent in `PATH`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.instance.command(args);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin().display()));
        command.env("TMPDIR", self.home().join("tmp"));
        command
    }

    pub(crate) fn start(&self, args: &[&str]) -> RunningCommand {
        RunningCommand::new(&mut self.command(args))
    }

    /// What a person would say about the agent in `roost.toml`: its variables, and these lines.
    pub(crate) fn configure(&self, more: &str) {
        self.configure_with(more, &[]);
    }

    /// The same, with more variables.
    pub(crate) fn configure_with(&self, more: &str, own: &[(&str, &str)]) {
        let id = self.agent.command();
        let mut variables = variables(self.agent, &self.home(), &self.model.url());
        variables.extend(own.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let variables: String = variables.iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect();
        self.instance.configure(&format!("[runtimes.{id}]\n{more}\n[runtimes.{id}.env]\n{variables}"));
    }

    /// Runs one prompt to its end.
    pub(crate) fn run(&self, mode: &str, prompt: &str, code: i32) -> Vec<Value> {
        let args = ["run", "--json", "--runtime", self.agent.command(), "--permission-mode", mode, prompt];
        self.start(&args).finish().ended(code).events(1)
    }

    /// Runs one more prompt of a session to its end; the events from there on.
    pub(crate) fn go_on(&self, session: &str, prompt: &str, code: i32) -> Vec<Value> {
        let done = self.start(&["run", "--json", "--session", session, prompt]).finish().ended(code);
        done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How many processes only sleep.
    pub(crate) fn sleepers(&self) -> usize {
        self.instance.processes().iter().filter(|command| command.starts_with("sleep ")).count()
    }
}
