//! The metrics that Prometheus scrapes.

use serde_json::json;
use testkit::facts;

use crate::kit::Door;

/// The value of a metric with these labels.
fn value(text: &str, metric: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test]
async fn tasks_tools_clients_and_refusals_are_counted() {
    let mut door = Door::open_with(|settings| settings.limits.starts_per_minute = 2).await;
    let token = door.token().await;
    let mut client = door.connect(&token).await.unwrap();
    client.hello().await;
    let mut scene = door.scene(&mut client).await;
    client.call("session/start", json!({ "workspace_id": scene.workspace })).await.unwrap_err();
    let (status, text) = door.get("/metrics", Some(&token)).await;
    assert_eq!(status, 200);
    assert_eq!(value(&text, "roost_active_tasks"), Some(1.0), "{text}");
    assert_eq!(value(&text, "roost_active_sessions"), Some(1.0));
    assert_eq!(value(&text, "roost_backpressure_drops_total{reason=\"rate_limit\"}"), Some(1.0));
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    client.event("pty_permission").await;
    let (_, text) = door.get("/metrics", Some(&token)).await;
    assert_eq!(value(&text, "roost_pending_requests"), Some(1.0));
    client.call("permission/respond", json!({ "tool_use_id": "call", "decision": "allow" })).await.unwrap();
    scene.agent.next_message().await;
    scene.agent.say_all([facts::started("call"), facts::completed("call")]).await;
    scene.agent.finish().await;
    client.until("stream_read_complete").await;
    let counted = async {
        loop {
            let (_, text) = door.get("/metrics", Some(&token)).await;
            if value(&text, "roost_active_tasks") == Some(0.0) {
                return text;
            }
        }
    };
    let text = testkit::soon("the end of the task is counted", counted).await;
    assert_eq!(value(&text, "roost_tasks_started_total{runtime=\"fake\"}"), Some(1.0), "{text}");
    assert_eq!(value(&text, "roost_tasks_finished_total{runtime=\"fake\",status=\"completed\"}"), Some(1.0));
    assert_eq!(value(&text, "roost_tool_executions_total{runtime=\"fake\",tool=\"write\",status=\"ok\"}"), Some(1.0));
    assert_eq!(value(&text, "roost_task_duration_seconds_count"), Some(1.0));
    assert_eq!(value(&text, "roost_connected_clients"), Some(1.0));
    assert!(text.contains("# TYPE roost_tasks_started_total counter"), "{text}");
}
