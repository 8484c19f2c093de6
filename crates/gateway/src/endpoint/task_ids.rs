//! Ids of tasks, as clients of the aggregate see them: each names the service that has the task.

use serde_json::value::RawValue;

use crate::namespace::Namespace;
use crate::raw_object::{RawObject, to_raw};

/// The member that holds the id.
pub(super) const TASK_ID: &str = "taskId";
/// Names in `_meta` the task to which a message belongs.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// The id as clients see it.
fn qualified(namespace: &Namespace, id: &str) -> String {
    format!("{}/{id}", namespace.as_str())
}

/// The name of the service and the id by which it knows the task; `None` if the id is none of ours.
pub(super) fn resolve(id: &str) -> Option<(&str, &str)> {
    id.split_once('/')
}

/// A result, or the parameters of a notification, with the ids replaced; everything else stays as it was written.
pub(super) fn qualify(message: Box<RawValue>, namespace: &Namespace) -> Box<RawValue> {
    // Most messages have none, and need not be read.
    if !message.get().contains(TASK_ID) {
        return message;
    }
    let Some(mut members) = RawObject::parse(&message) else { return message };
    qualify_member(&mut members, namespace);
    if let Some(task) = members.object("task").map(|task| qualify_task(task, namespace)) {
        members.set("task", task);
    }
    if let Some(mut meta) = members.object("_meta")
        && let Some(related) = meta.object(RELATED).map(|task| qualify_task(task, namespace))
    {
        meta.set(RELATED, related);
        let meta = meta.to_raw();
        members.set("_meta", meta);
    }
    members.to_raw()
}

fn qualify_task(mut task: RawObject<'_>, namespace: &Namespace) -> Box<RawValue> {
    qualify_member(&mut task, namespace);
    task.to_raw()
}

fn qualify_member(members: &mut RawObject<'_>, namespace: &Namespace) {
    if let Some(id) = members.text(TASK_ID) {
        members.set(TASK_ID, to_raw(&qualified(namespace, &id)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_tasks_name_their_service_and_can_be_undone() {
        let lab = Namespace::from_text("lab");
        for (message, expected) in [
            (r#"{"content":[{"type":"text","text":"a"}]}"#, None),
            (r#"{"structuredContent":{"taskId": "a"}}"#, Some(r#"{"structuredContent":{"taskId": "a"}}"#)),
            (r#"{"taskId":"a","status":"working"}"#, Some(r#"{"taskId":"lab/a","status":"working"}"#)),
            (r#"{"task":{"taskId":"a/b","ttl":1.0}}"#, Some(r#"{"task":{"taskId":"lab/a/b","ttl":1.0}}"#)),
            (
                r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}"#,
                Some(r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"lab/a"}}}"#),
            ),
        ] {
            let seen = qualify(RawValue::from_string(message.into()).unwrap(), &lab);
            assert_eq!(seen.get(), expected.unwrap_or(message));
        }
        assert_eq!(resolve("lab/a/b"), Some(("lab", "a/b")));
        assert_eq!(resolve("a"), None);
    }
}
