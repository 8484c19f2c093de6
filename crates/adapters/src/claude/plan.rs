//! Follows the agent's plan through its tools: `TaskCreate` and `TaskUpdate` change one entry, `TodoWrite` replaces
//! all.

use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::{PlanEntry, PlanPriority, PlanStatus, PlanUpdatedPayload};
use serde_json::Value;

/// The plan of one session: its entries in order, with the ids of the task tools (empty for `TodoWrite`).
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<(String, PlanEntry)>,
}

impl Plan {
    /// Follows a successful tool call with this input and result, and reports the plan if the call changed it.
    pub(super) fn on_tool_result(
        &mut self,
        tool: &str,
        input: &Value,
        result: Option<&Value>,
        drafts: &mut Vec<Draft>,
    ) {
        let changed = match tool {
            "TodoWrite" => self.replace(input),
            "TaskCreate" => self.create(input, result),
            "TaskUpdate" => self.update(input),
            _ => None,
        };
        if changed.is_some() {
            let entries = self.steps.iter().map(|(_, entry)| entry.clone()).collect();
            drafts.push(Fact::Plan(PlanUpdatedPayload { entries }).into());
        }
    }

    fn replace(&mut self, input: &Value) -> Option<()> {
        let todos = input.get("todos")?.as_array()?;
        let step = |todo: &Value| Some((String::new(), entry(todo.get("content")?, todo.get("status"))?));
        self.steps = todos.iter().filter_map(step).collect();
        Some(())
    }

    fn create(&mut self, input: &Value, result: Option<&Value>) -> Option<()> {
        let id = result?.pointer("/task/id")?.as_str()?.to_owned();
        self.steps.push((id, entry(input.get("subject")?, None)?));
        Some(())
    }

    fn update(&mut self, input: &Value) -> Option<()> {
        let id = input.get("taskId")?.as_str()?;
        let at = self.steps.iter().position(|(known, _)| known == id)?;
        let status = input.get("status");
        if status.and_then(Value::as_str) == Some("deleted") {
            self.steps.remove(at);
            return Some(());
        }
        let (_, step) = &mut self.steps[at];
        if let Some(subject) = input.get("subject").and_then(Value::as_str) {
            step.content = subject.to_owned();
        }
        if status.is_some() {
            step.status = self::status(status);
        }
        Some(())
    }
}

fn entry(content: &Value, status: Option<&Value>) -> Option<PlanEntry> {
    let (content, status) = (content.as_str()?.to_owned(), self::status(status));
    Some(PlanEntry { content, priority: PlanPriority::Medium, status })
}

fn status(status: Option<&Value>) -> PlanStatus {
    match status.and_then(Value::as_str) {
        Some("in_progress") => PlanStatus::InProgress,
        Some("completed") => PlanStatus::Completed,
        _ => PlanStatus::Pending,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_plan_follows_the_task_tools() {
        let mut plan = Plan::default();
        let created = |id: &str| json!({ "task": { "id": id } });
        let steps = [
            ("TaskCreate", json!({ "subject": "one" }), Some(created("1")), "one:Pending"),
            ("TaskCreate", json!({ "subject": "two" }), Some(created("2")), "one:Pending two:Pending"),
            ("TaskCreate", json!({ "subject": "refused" }), None, ""),
            ("TaskUpdate", json!({ "taskId": "1", "status": "in_progress" }), None, "one:InProgress two:Pending"),
            ("TaskUpdate", json!({ "taskId": "2", "subject": "last" }), None, "one:InProgress last:Pending"),
            ("TaskUpdate", json!({ "taskId": "1", "status": "deleted" }), None, "last:Pending"),
            ("TaskUpdate", json!({ "taskId": "9", "status": "completed" }), None, ""),
            ("Bash", json!({ "todos": [] }), None, ""),
            ("TodoWrite", json!({ "todos": [{ "content": "a", "status": "completed" }] }), None, "a:Completed"),
        ];
        for (tool, input, result, expected) in steps {
            let mut drafts = Vec::new();
            plan.on_tool_result(tool, &input, result.as_ref(), &mut drafts);
            let shown: Vec<_> = drafts
                .iter()
                .flat_map(|draft| match &draft.fact {
                    Fact::Plan(plan) => plan.entries.clone(),
                    other => panic!("{other:?}"),
                })
                .map(|entry| format!("{}:{:?}", entry.content, entry.status))
                .collect();
            assert_eq!(shown.join(" "), expected, "{tool} {input}");
        }
    }
}
