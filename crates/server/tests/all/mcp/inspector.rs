//! The official inspector as a client of the gateway, in each of its eras.

use std::process::Stdio;
use std::sync::Arc;

use roost_server::Settings;
use serde_json::Value;
use testkit::Home;
use testkit::agents;
use testkit::mcp_fixture::FixtureEra::{Legacy, Modern};
use tokio::process::Command;

use super::fixture_gateway::{FixtureGateway, RecordingGovernor};
use crate::kit::Door;

/// What the inspector prints for these arguments.
async fn inspect(door: &Door, path: &str, era: &str, args: &[&str]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let tools = agents::mcp_tools();
    let package = tools.join("node_modules/@modelcontextprotocol/inspector");
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(package.join("package.json")).unwrap()).unwrap();
    let program = package.join(manifest["bin"]["mcp-inspector"].as_str().unwrap());
    let mut command = Command::new(agents::program("node"));
    command.arg(program).args(["--cli", &format!("http://{}{path}", door.address), "--transport", "http"]);
    command.args(["--protocol-era", era, "--format", "json"]).args(args);
    command.env_clear().env("HOME", home.path()).env("PATH", agents::bin()).current_dir(home.path());
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{era} {args:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{era} {args:?}: {said}"))
}

/// `--strict` fails if a schema is one that some client or model cannot use.
#[tokio::test(flavor = "multi_thread")]
async fn the_gateways_own_tools_have_schemas_for_every_client() {
    let governor = Arc::new(RecordingGovernor::default());
    let no_auth = |settings: &mut Settings| settings.require_auth = false;
    let door = Door::over_with_own_tools(Home::new().start_with(|_| {}).await, governor, no_auth).await;
    let tools = inspect(&door, "/mcp", "auto", &["--method", "tools/list", "--strict"]).await;
    for tool in ["runtime__list_services", "runtime__stop_service", "clarity__help"] {
        assert!(tools.to_string().contains(tool), "{tool}: {tools}");
    }
    let gateway = FixtureGateway::start(&[("old", Legacy)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |settings| settings.require_auth = false).await;
    let tools = inspect(&door, "/mcp?surface=lazy", "auto", &["--method", "tools/list", "--strict"]).await;
    assert!(tools.to_string().contains("runtime__search_tools"), "{tools}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inspector_lists_and_calls_in_every_era() {
    let gateway = FixtureGateway::start(&[("old", Legacy), ("new", Modern)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |settings| settings.require_auth = false).await;
    for era in ["legacy", "auto", "modern"] {
        let tools = inspect(&door, "/mcp", era, &["--method", "tools/list"]).await;
        assert!(tools.to_string().contains("old__test_simple_text"), "{era}: {tools}");
        for namespace in ["old", "new"] {
            let tool = format!("{namespace}__test_simple_text");
            let result = inspect(&door, "/mcp", era, &["--method", "tools/call", "--tool-name", &tool]).await;
            assert!(result.to_string().contains("This is a simple text response"), "{era}: {result}");
        }
        let uri = "roost://new/test://static-text";
        let read = inspect(&door, "/mcp", era, &["--method", "resources/read", "--uri", uri]).await;
        assert!(read.to_string().contains("static text resource"), "{era}: {read}");
        let prompts = inspect(&door, "/mcp", era, &["--method", "prompts/list"]).await;
        assert!(prompts.to_string().contains("old__test_simple_prompt"), "{era}: {prompts}");
    }
}
