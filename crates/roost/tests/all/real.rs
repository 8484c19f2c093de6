//! A place in which a real agent talks to the scripted model.

use testkit::agents::{Agent, furnish, variables};

use crate::codex::MODEL;
use crate::kit::Place;

/// A place where this agent can be used under an id, with these arguments of its own. Its home is the place's.
pub(crate) fn place(agent: Agent, id: &str, args: &[&str]) -> Place {
    let place = Place::new();
    let home = place.work().with_file_name("home");
    furnish(&home, &MODEL.url());
    let env = variables(agent, &home, &MODEL.url());
    let env = env.iter().filter(|(name, _)| *name != "HOME").map(|(name, value)| format!("{name} = {value:?}\n"));
    let (program, env) = (agent.program(), env.collect::<String>());
    place.configure(&format!("[runtimes.{id}]\ncommand = {program:?}\nargs = {args:?}\n[runtimes.{id}.env]\n{env}"));
    place
}
