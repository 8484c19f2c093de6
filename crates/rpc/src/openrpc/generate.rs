//! Generates the OpenRPC document from the method table.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::notification::EventName;
use crate::{Cost, Example, FaultCode, Method, Needs, Parameter, Scope};

/// The version of OpenRPC that the document is written in.
const OPENRPC: &str = "1.3.2";

/// The document that is committed as `schemas/openrpc.json`; `version` is the version of the protocol, not of Roost.
pub fn generate(version: &str) -> Value {
    // OpenRPC asks for draft 7. What is written is described: a field that is always there is required.
    let settings = SchemaSettings::draft07().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let methods: Vec<_> = Method::ALL.iter().map(|&method| describe_method(method, &mut generator)).collect();
    let notifications: Vec<_> = EventName::ALL.iter().map(|&event| notification(event, &mut generator)).collect();
    let schemas =
        generator.take_definitions(true).into_iter().map(|(name, schema)| (name, with_sorted_keywords(schema)));
    let mut schemas: Map<_, _> = schemas.collect();
    schemas.sort_keys();
    let errors = FaultCode::ALL.iter().map(|code| (format!("{code:?}"), error(*code)));
    json!({
        "openrpc": OPENRPC,
        "info": {
            "title": "Roost",
            "description": "Runs coding agents and lets clients start, watch, steer, approve and stop them. \
                Parameters are sent by name; a field that this document does not know is ignored.",
            "version": version,
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "servers": [
            { "name": "WebSocket", "url": "ws://127.0.0.1:8766/ws" },
            { "name": "HTTP", "url": "http://127.0.0.1:8766/api/rpc", "summary": "Without events." },
        ],
        "methods": methods,
        "x-notifications": notifications,
        "components": { "schemas": schemas, "errors": errors.collect::<Map<_, _>>() },
    })
}

fn describe_method(method: Method, generator: &mut SchemaGenerator) -> Value {
    let params = method.params_schema(generator);
    let properties = params.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = params.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let takes = |name: &str| properties.contains_key(name);
    let errors = FaultCode::ALL.iter().filter(|code| may_answer(method, **code, takes));
    let errors: Vec<_> = errors.map(|code| json!({ "$ref": format!("#/components/errors/{code:?}") })).collect();
    let is_required = |name: &String| required.iter().any(|required| required == name);
    let params: Vec<_> = properties
        .iter()
        .map(|(name, schema)| {
            let mut descriptor = descriptor(name, is_required(name), schema.clone(), generator);
            if let Some(Parameter { needs, unless, .. }) = method.parameters().find(|row| row.name == name) {
                descriptor["x-needs"] = json!({ "needs": needs, "unless": unless });
            }
            descriptor
        })
        .collect();
    let result = method.result_schema(generator);
    let routes = method.routes().into_iter().map(|route| format!("{} {}", route.verb.name(), route.path));
    json!({
        "name": method.name(),
        "summary": method.summary(),
        "tags": [{ "name": method.area() }],
        "paramStructure": "by-name",
        "params": params,
        "result": { "name": "result", "required": true, "schema": with_transforms(result, generator) },
        "errors": errors,
        "examples": [example(method)],
        "x-scope": method.scope(),
        "x-cost": method.cost(),
        "x-routes": routes.collect::<Vec<_>>(),
    })
}

/// Describes one parameter. OpenRPC wants its description beside the schema, not inside.
fn descriptor(name: &str, required: bool, schema: Value, generator: &mut SchemaGenerator) -> Value {
    let mut schema = Schema::try_from(schema).unwrap_or_default();
    let description = schema.remove("description");
    let mut descriptor = json!({ "name": name, "required": required, "schema": with_transforms(schema, generator) });
    if let Some(description) = description {
        descriptor["description"] = description;
    }
    descriptor
}

fn example(method: Method) -> Value {
    let Example { params, result } = Example::for_method(method);
    let params: Vec<_> =
        params.as_object().into_iter().flatten().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    json!({ "name": method.name(), "params": params, "result": { "name": "result", "value": result } })
}

/// Describes an event. OpenRPC has no notifications from the server, hence the key `x-notifications`.
fn notification(event: EventName, generator: &mut SchemaGenerator) -> Value {
    let params = event.params_schema(generator);
    json!({
        "name": format!("event/{}", event.name()),
        "summary": event.summary(),
        "params": with_transforms(params, generator),
    })
}

fn error(code: FaultCode) -> Value {
    json!({ "code": code.number(), "message": code.summary(), "data": { "code": code.word() } })
}

/// Whether to list this error for this method. The five errors of JSON-RPC itself are listed nowhere, because every
/// client must expect them.
fn may_answer(method: Method, code: FaultCode, takes: impl Fn(&str) -> bool) -> bool {
    match code {
        FaultCode::ParseError
        | FaultCode::InvalidRequest
        | FaultCode::MethodNotFound
        | FaultCode::InvalidParams
        | FaultCode::InternalError => false,
        FaultCode::RateLimited | FaultCode::ShuttingDown => true,
        FaultCode::Forbidden => {
            method.scope() != Scope::Observe
                || method == Method::PermissionRequest
                || method.parameters().any(|row| row.needs != Needs::Operate)
        }
        FaultCode::NotInitialized => method != Method::Initialize,
        // A version in the request's header is checked before any method is.
        FaultCode::UnsupportedVersion => false,
        FaultCode::AgentAlreadyRunning => method == Method::AgentRun,
        FaultCode::AgentNotRunning => method.area() == "agent" && method.cost() == Cost::Change,
        FaultCode::AgentError => method.cost() == Cost::Change && takes("agent_type"),
        FaultCode::AgentNotConfigured | FaultCode::Busy => method.cost() == Cost::Start,
        FaultCode::SessionNotFound => takes("session_id") || takes("sessions"),
        FaultCode::SessionInvalid => takes("session_id") && method.cost() != Cost::Read,
        FaultCode::NotAGitRepo | FaultCode::GitOperationFailed => method.is_git(),
        FaultCode::GitConflict => method.is_git() && method.cost() == Cost::Change,
        FaultCode::FileNotFound | FaultCode::FileTooLarge | FaultCode::FileReadError => {
            [Method::FileGet, Method::WorkspaceFileGet].contains(&method)
        }
        // Also where the folder of the workspace itself is gone.
        FaultCode::DirectoryNotFound => is_beneath(method) && takes("workspace_id"),
        FaultCode::PathTraversal => is_beneath(method) && ["path", "paths", "directory"].into_iter().any(takes),
        FaultCode::WorkspaceNotFound => takes("workspace_id") || takes("workspaces"),
        FaultCode::Truncated => takes("after") || takes("after_seq"),
        FaultCode::TooLarge => method.cost() == Cost::Read,
        FaultCode::DiskFull => method.cost() != Cost::Read,
        FaultCode::ServiceNotFound => takes("service_id"),
        FaultCode::ServiceConflict => method.area() == "service" && method.cost() != Cost::Read,
        FaultCode::ServiceFailed => {
            matches!(method, Method::ServiceIntrospect | Method::ServiceLoginBegin | Method::ServiceLoginFinish)
        }
    }
}

/// Whether the method works on files below a workspace's folder.
fn is_beneath(method: Method) -> bool {
    method.is_git()
        || ["file", "repository"].contains(&method.area())
        || [Method::WorkspaceFileGet, Method::WorkspaceFilesList].contains(&method)
}

/// Applies the transforms to draft 7 that the generator applies to definitions only when they are taken.
fn with_transforms(mut schema: Schema, generator: &mut SchemaGenerator) -> Value {
    for transform in generator.transforms_mut() {
        transform.transform(&mut schema);
    }
    json!(schema)
}

/// Sorts a schema's keywords in the order in which people read them.
fn with_sorted_keywords(schema: Value) -> Value {
    json!(Schema::try_from(schema).unwrap_or_default())
}
