//! The JSON Schemas of the wire types, generated and committed under `schemas/`.
//!
//! They say what is accepted: an optional field may also be `null`, which is read as absent.

use schemars::{JsonSchema, Schema, schema_for};

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
