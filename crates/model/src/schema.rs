//! The JSON Schemas of the wire types, generated and committed under `schemas/`. Only tests need them, so they are behind
//! the feature `schema`: generated code for every type would make the program bigger and its build longer.
//!
//! They say what is accepted: an optional field may also be `null`, which is read as absent.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde_json::{Value, json};

use crate::event::NormalizedEventType;
use crate::mode::{AnyMode, SPELLINGS};
use crate::runtime::RuntimeName;
use crate::runtime::name::{FIXED, UNPROMPTABLE};
use crate::time::Timestamp;

use crate::{approval, content, event, failure, pattern, payload, registry, runtime, session, tool};

/// Every published schema with its file name.
pub fn all() -> Vec<(&'static str, Schema)> {
    fn entry<T: JsonSchema>(name: &'static str) -> (&'static str, Schema) {
        (name, schema_for!(T))
    }
    vec![
        entry::<event::NormalizedEvent>("normalized_event"),
        entry::<runtime::RuntimeCapabilities>("runtime_capabilities"),
        entry::<runtime::AuthStatus>("auth_status"),
        entry::<runtime::RuntimeEnv>("runtime_env"),
        entry::<runtime::CreateSessionInput>("create_session_input"),
        entry::<runtime::RuntimeSessionHandle>("runtime_session_handle"),
        entry::<tool::ToolCallIdentity>("tool_call_identity"),
        entry::<tool::ToolManifest>("tool_manifest"),
        entry::<tool::ToolPolicySnapshot>("tool_policy_snapshot"),
        entry::<tool::ToolSandboxSummary>("tool_sandbox_summary"),
        entry::<content::TranscriptMessage>("transcript_message"),
        entry::<payload::ModelOutputDeltaPayload>("model_output_delta_payload"),
        entry::<failure::TaskError>("task_error"),
        entry::<session::SessionRecord>("session_record"),
        entry::<registry::RuntimeRegistry>("runtime_registry"),
        entry::<approval::Pending>("pending"),
        entry::<pattern::RememberedRule>("remembered_rule"),
    ]
}

impl JsonSchema for RuntimeName {
    fn schema_name() -> Cow<'static, str> {
        "RuntimeName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let fixed: Vec<_> = FIXED.iter().chain(&UNPROMPTABLE).map(RuntimeName::wire).collect();
        json_schema!({ "anyOf": [
            { "type": "string", "enum": fixed },
            { "type": "string", "pattern": "^acp:.+$" },
        ] })
    }
}

impl JsonSchema for AnyMode {
    fn schema_name() -> Cow<'static, str> {
        "AnyMode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": SPELLINGS })
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Lets the schema accept what [`EventBody::Other`](crate::event::EventBody::Other) accepts, so that a client's validator
/// does not refuse a newer event.
pub(crate) fn allow_other_types(schema: &mut Schema) {
    let other = json!({
        "description": "A type that this version does not know.",
        "type": "object",
        "properties": { "type": { "type": "string", "not": { "enum": NormalizedEventType::ALL } }, "payload": true },
        "required": ["type", "payload"],
    });
    if let Some(variants) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        variants.push(other);
    }
}
