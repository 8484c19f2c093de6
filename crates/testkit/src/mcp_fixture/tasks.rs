//! Calls that run as tasks. A legacy client asks for it; a modern server does it for every client that knows tasks.

use serde_json::{Value, json};

use super::{Exchange, FixtureEra, Outcome, error, text};

/// The extension of the modern era.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Names in `_meta` the task to which a result belongs.
const RELATED: &str = "io.modelcontextprotocol/related-task";
/// The one task, which goes on until it is cancelled.
const ID: &str = "task/1";

/// Says that calls may run as tasks.
pub(super) fn add_capability(era: FixtureEra, capabilities: &mut Value) {
    match era {
        FixtureEra::Legacy => {
            capabilities["tasks"] = json!({ "cancel": {}, "list": {}, "requests": { "tools": { "call": {} } } });
        }
        FixtureEra::Modern => capabilities["extensions"] = json!({ EXTENSION: {} }),
    }
}

fn task(status: &str) -> Value {
    let time = "2026-11-18T12:00:00Z";
    json!({ "taskId": ID, "status": status, "ttl": 60000, "createdAt": time, "lastUpdatedAt": time })
}

impl Exchange<'_> {
    /// Whether the call runs as a task.
    pub(super) fn is_task(&self) -> bool {
        let is_wanted = match self.fixture.era {
            FixtureEra::Legacy => self.params.get("task").is_some(),
            FixtureEra::Modern => self.params["_meta"][super::CAPABILITIES]["extensions"].get(EXTENSION).is_some(),
        };
        self.fixture.has_tasks && is_wanted
    }

    pub(super) fn begin_task(&self) -> Value {
        match self.fixture.era {
            FixtureEra::Legacy => json!({ "task": task("working") }),
            FixtureEra::Modern => {
                let mut result = task("working");
                result["resultType"] = "task".into();
                result
            }
        }
    }

    pub(super) fn on_task(&self, method: &str) -> Outcome {
        if method == "tasks/list" {
            return Ok(json!({ "tasks": [task("working")] }));
        }
        if self.params["taskId"] != ID {
            return Err(error(-32602, &format!("there is no task {}", self.params["taskId"])).into());
        }
        match method {
            "tasks/result" => {
                let mut result = text("It is done.");
                result["_meta"] = json!({ RELATED: { "taskId": ID } });
                Ok(result)
            }
            "tasks/cancel" => {
                self.fixture.say("notifications/tasks/status", task("cancelled"));
                Ok(task("cancelled"))
            }
            _ => Ok(task("working")),
        }
    }
}
