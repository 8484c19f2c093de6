//! Every method of the OpenRPC document and every route that it names, called on a real server over a real repository.
//!
//! The tables are data: a row is one call with what it answers or why it is refused. In both, `$name` is something that an
//! earlier row kept, `*` is anything that is there, and `~text` is a text that holds this one; of an object only the
//! fields that are named must fit. Every answer is held against the method's own schema besides, and every refusal against
//! the errors that the document promises.

mod agent;
mod bootstrap;
mod file;
mod git;
mod host;
mod lifecycle;
mod repository;
mod routes;
mod row;
mod run;
mod secret;
mod service;
mod session;
mod workspace;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use roost_rpc::{Method, PROTOCOL_VERSION, openrpc};
use row::Row;
use serde_json::Value;
use testkit::Home;
use world::World;

use crate::kit::Door;
use crate::mcp::fixture_gateway::RecordingGovernor;

/// Makes the rows of one area.
type Rows = fn() -> Vec<Row>;

/// The tables, by area.
const AREAS: &[(&str, Rows)] = &[
    ("lifecycle", lifecycle::rows),
    ("agent", agent::rows),
    ("session", session::rows),
    ("workspace", workspace::rows),
    ("file", file::rows),
    ("git", git::rows),
    ("worktree", git::worktree_rows),
    ("repository", repository::rows),
    ("service", service::rows),
    ("runs", run::rows),
    ("secrets", secret::rows),
    ("bootstrap", bootstrap::rows),
    ("host", host::rows),
    ("routes of agents", routes::agent_routes),
    ("routes of git", routes::git_routes),
    ("routes of files", routes::file_routes),
    ("routes of services", service::routes),
];

/// Walks the table of an area on a server of its own; tells every row that does not hold.
async fn walk(area: &str) {
    let (_, rows) = AREAS.iter().find(|(name, _)| *name == area).unwrap();
    let mut world = World::open().await;
    let mut wrong = Vec::new();
    for row in rows() {
        if let Err(why) = world.walk(&row).await {
            wrong.push(format!("{} {}\n    {why}", row.call, row.params));
        }
    }
    assert!(wrong.is_empty(), "{} rows of {area} do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_method_and_every_route_has_a_row() {
    let document = openrpc::document(PROTOCOL_VERSION);
    let named = |method: &Value| {
        let routes = method["x-routes"].as_array().unwrap().clone();
        [method["name"].clone()].into_iter().chain(routes).collect::<Vec<_>>()
    };
    let methods = document["methods"].as_array().unwrap();
    assert_eq!(methods.len(), Method::ALL.len());
    let promised: BTreeSet<_> = methods.iter().flat_map(named).map(|name| name.as_str().unwrap().to_owned()).collect();
    let kept: BTreeSet<_> = AREAS.iter().flat_map(|(_, rows)| rows()).map(|row| row.call.to_owned()).collect();
    let missing: Vec<_> = promised.difference(&kept).collect();
    assert!(missing.is_empty(), "these have no row: {missing:#?}");
}

/// The HTTP API of seed 003, as it writes it; the last four are no methods.
const SEED_003: [&str; 27] = [
    "GET /api/status",
    "GET /api/services",
    "GET /api/audit",
    "GET /api/agents/runs",
    "GET /api/agents/events",
    "GET /api/agents/runs/{run_id}/events",
    "POST /api/agents/events",
    "GET /api/services/{service_id}",
    "GET /api/services/{service_id}/interface",
    "GET /api/services/{service_id}/logs",
    "GET /api/services/{service_id}/events",
    "GET /api/services/{service_id}/details",
    "POST /api/services/apply",
    "POST /api/services/{service_id}/start",
    "POST /api/services/{service_id}/stop",
    "POST /api/services/{service_id}/restart",
    "POST /api/services/{service_id}/introspect",
    "POST /api/services/{service_id}/unquarantine",
    "POST /api/bootstrap",
    "GET /api/bootstrap/status",
    // Not in the seed, but in what its clients are used to.
    "DELETE /api/services/{service_id}",
    "DELETE /api/bootstrap",
    "GET /api/security/auth/secrets",
    "GET /status",
    "GET /mcp",
    "POST /mcp",
    "GET /api/events",
];

#[tokio::test]
async fn every_endpoint_of_seed_003_has_a_row_or_answers_here() {
    let rows: BTreeSet<_> = AREAS.iter().flat_map(|(_, rows)| rows()).map(|row| row.call).collect();
    let (methods, others) = SEED_003.split_at(SEED_003.len() - 4);
    let missing: Vec<_> = methods.iter().filter(|endpoint| !rows.contains(**endpoint)).collect();
    assert!(missing.is_empty(), "these have no row: {missing:#?}");
    let governor = Arc::new(RecordingGovernor::default());
    let door = Door::over_with_own_tools(Home::new().start_with(|_| {}).await, governor, |_| {}).await;
    let token = door.pair(None).await["access_token"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",
        "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    for (endpoint, expected) in others.iter().zip([200, 200, 200, 401]) {
        let (accept, body) = match endpoint.starts_with("POST") {
            true => ("application/json, text/event-stream", initialize),
            false => ("application/json", ""),
        };
        let headers = [("Accept", accept), ("Content-Type", "application/json"), ("Authorization", &bearer)];
        // The stream of events has no end, and is followed elsewhere; here it is asked for without a token.
        let headers = if expected == 401 { &headers[..2] } else { &headers[..] };
        assert_eq!(door.http(endpoint, headers, body).await.0, expected, "{endpoint}");
    }
}

macro_rules! walks {
    ($($test:ident: $area:literal),* $(,)?) => {
        $(#[tokio::test]
        async fn $test() {
            walk($area).await;
        })*

        #[test]
        fn every_area_is_walked() {
            assert_eq!(AREAS.iter().map(|(area, _)| *area).collect::<Vec<_>>(), [$($area),*]);
        }
    };
}

walks! {
    the_methods_of_a_connection_answer_as_documented: "lifecycle",
    the_methods_of_the_one_agent_answer_as_documented: "agent",
    the_methods_of_sessions_answer_as_documented: "session",
    the_methods_of_workspaces_answer_as_documented: "workspace",
    the_methods_of_files_answer_as_documented: "file",
    the_methods_of_git_answer_as_documented: "git",
    the_methods_of_worktrees_answer_as_documented: "worktree",
    the_methods_of_the_index_answer_as_documented: "repository",
    the_methods_of_services_answer_as_documented: "service",
    the_methods_of_runs_answer_as_documented: "runs",
    the_methods_of_secrets_answer_as_documented: "secrets",
    the_methods_of_bootstrap_answer_as_documented: "bootstrap",
    the_methods_of_the_host_answer_as_documented: "host",
    the_routes_of_agents_answer_as_documented: "routes of agents",
    the_routes_of_git_answer_as_documented: "routes of git",
    the_routes_of_files_answer_as_documented: "routes of files",
    the_routes_of_services_answer_as_documented: "routes of services",
}
