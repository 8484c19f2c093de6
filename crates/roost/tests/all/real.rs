//! An instance in which a real agent talks to the scripted model.

use testkit::agents::{Agent, variables, write_settings};

use crate::codex::MODEL;
use crate::kit::RoostInstance;

/// An instance where this agent can be used under an id, with these arguments of its own. Its home is the instance's.
pub(crate) fn instance(agent: Agent, id: &str, args: &[&str]) -> RoostInstance {
    let instance = RoostInstance::new();
    let home = instance.work().with_file_name("home");
    write_settings(&home, &MODEL.url());
    let env = variables(agent, &home, &MODEL.url());
    let env = env.iter().filter(|(name, _)| *name != "HOME").map(|(name, value)| format!("{name} = {value:?}\n"));
    let (program, env) = (agent.program(), env.collect::<String>());
    instance.configure(&format!("[runtimes.{id}]\ncommand = {program:?}\nargs = {args:?}\n[runtimes.{id}.env]\n{env}"));
    instance
}
