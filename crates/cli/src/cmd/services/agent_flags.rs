//! What the command line says of a service that is an agent.

use serde_json::{Map, Value, json};

use super::declare::put;
use crate::error::Error;

/// Whether a service is an agent, and what its manifest says of it then.
#[derive(clap::Args)]
pub(crate) struct AgentFlags {
    /// What it is: mcp offers tools only, agent also works by itself [default: mcp; agent if an --agent option is given]
    #[arg(long, value_name = "TYPE", value_parser = ["mcp", "agent"])]
    service_type: Option<String>,
    /// The agent's id [default: the module]
    #[arg(long, value_name = "ID")]
    agent_id: Option<String>,
    /// The agent's name [default: the module]
    #[arg(long, value_name = "TEXT")]
    agent_name: Option<String>,
    /// What the agent is
    #[arg(long, value_name = "TEXT")]
    agent_role: Option<String>,
    /// What the agent is there for
    #[arg(long, value_name = "TEXT")]
    agent_objective: Option<String>,
    /// What starts its runs, divided by commas: timer, event, api, a2a [default: api]
    #[arg(long, value_delimiter = ',', value_name = "TRIGGERS")]
    agent_triggers: Option<Vec<String>>,
    /// When its timer fires, as ID=EXPRESSION, such as nightly="every 24 h"; may be given several times
    #[arg(long, value_name = "ID=EXPRESSION")]
    agent_schedule: Option<Vec<String>>,
    /// What it takes, divided by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    agent_inputs: Option<Vec<String>>,
    /// What it gives, divided by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    agent_outputs: Option<Vec<String>>,
    /// The tools that it says it uses, divided by commas
    #[arg(long, value_delimiter = ',', value_name = "TOOLS")]
    agent_mcp_tools: Option<Vec<String>>,
    /// The providers of models that it says it uses, divided by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    agent_llm_providers: Option<Vec<String>>,
    /// The agents that it hands work to, divided by commas
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    agent_handoff_targets: Option<Vec<String>>,
    /// The services that it needs, divided by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    agent_depends_on: Option<Vec<String>>,
    /// The agent's version
    #[arg(long, value_name = "TEXT")]
    agent_version: Option<String>,
    /// It asks people
    #[arg(long)]
    agent_hitl: bool,
}

impl AgentFlags {
    /// The members `serviceType` and `agent` of a manifest's metadata.
    pub(crate) fn metadata(&self, module: &str) -> Result<Map<String, Value>, Error> {
        if !self.is_agent() {
            return Ok(Map::from_iter([("serviceType".to_owned(), json!("mcp"))]));
        }
        let needed = |flag: &str, given: &Option<String>| {
            let missing = || Error::BadManifest(format!("an agent needs {flag}; its manifest must say it"));
            given.clone().ok_or_else(missing)
        };
        let schedules = self.schedules()?;
        let mut triggers = self.agent_triggers.clone().unwrap_or_default();
        if triggers.is_empty() {
            triggers.push(if schedules.is_empty() { "api" } else { "timer" }.into());
        }
        let mut agent = json!({
            "agentId": self.agent_id.as_deref().unwrap_or(module),
            "name": self.agent_name.as_deref().unwrap_or(module),
            "role": needed("--agent-role", &self.agent_role)?,
            "objective": needed("--agent-objective", &self.agent_objective)?,
            "triggers": triggers,
        });
        put(&mut agent, "timer", (!schedules.is_empty()).then(|| json!({ "schedules": schedules })));
        put(&mut agent, "inputs", self.agent_inputs.as_ref());
        put(&mut agent, "outputs", self.agent_outputs.as_ref());
        put(&mut agent, "allowedMcpTools", self.agent_mcp_tools.as_ref());
        put(&mut agent, "llmProviders", self.agent_llm_providers.as_ref());
        put(&mut agent, "handoffTargets", self.agent_handoff_targets.as_ref());
        put(&mut agent, "dependsOn", self.agent_depends_on.as_ref());
        put(&mut agent, "version", self.agent_version.as_ref());
        put(&mut agent, "hitl", self.agent_hitl.then_some(true));
        Ok(Map::from_iter([("serviceType".to_owned(), json!("agent")), ("agent".to_owned(), agent)]))
    }

    fn is_agent(&self) -> bool {
        let texts = [&self.agent_id, &self.agent_name, &self.agent_role, &self.agent_objective, &self.agent_version];
        let lists = [
            &self.agent_triggers,
            &self.agent_schedule,
            &self.agent_inputs,
            &self.agent_outputs,
            &self.agent_mcp_tools,
            &self.agent_llm_providers,
            &self.agent_handoff_targets,
            &self.agent_depends_on,
        ];
        match self.service_type.as_deref() {
            Some(kind) => kind == "agent",
            None => {
                texts.iter().any(|text| text.is_some()) || lists.iter().any(|list| list.is_some()) || self.agent_hitl
            }
        }
    }

    fn schedules(&self) -> Result<Vec<Value>, Error> {
        let schedule = |text: &String| match text.split_once('=') {
            Some((id, expression)) => Ok(json!({ "scheduleId": id, "scheduleExpr": expression })),
            None => Err(Error::BadManifest(format!("\"{text}\" is no schedule; write ID=EXPRESSION"))),
        };
        self.agent_schedule.iter().flatten().map(schedule).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        agent: AgentFlags,
    }

    fn metadata(args: &[&str]) -> Result<Map<String, Value>, Error> {
        Line::parse_from([&["x"], args].concat()).agent.metadata("Dice")
    }

    #[test]
    fn without_options_a_service_offers_tools_only() {
        assert_eq!(Value::Object(metadata(&[]).unwrap()), json!({ "serviceType": "mcp" }));
    }

    #[test]
    fn options_of_agents_make_an_agent_that_is_named_after_its_module() {
        let line = ["--agent-role", "roller", "--agent-objective", "roll", "--agent-schedule", "tick=every 5 min"];
        let expected = json!({ "serviceType": "agent", "agent": {
            "agentId": "Dice", "name": "Dice", "role": "roller", "objective": "roll", "triggers": ["timer"],
            "timer": { "schedules": [{ "scheduleId": "tick", "scheduleExpr": "every 5 min" }] },
        } });
        assert_eq!(Value::Object(metadata(&line).unwrap()), expected);
    }

    #[test]
    fn an_agent_without_a_role_is_refused_with_the_option_that_is_missing() {
        let refused = metadata(&["--service-type", "agent"]).unwrap_err().to_string();
        assert!(refused.contains("--agent-role"), "{refused}");
    }
}
