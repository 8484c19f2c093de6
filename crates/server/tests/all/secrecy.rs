//! What is nobody's business stays out of the daemon's own log.

use std::io::{self, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use testkit::facts;
use tracing_subscriber::fmt::MakeWriter;

use crate::kit::Door;

/// Every log line of this process.
#[derive(Clone, Default)]
struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for CapturedLog {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_token_and_no_prompt_is_in_a_log_line() {
    let lines = CapturedLog::default();
    // All that is ours, and of the rest what anybody would ever turn on; the test's own client tells its token below that.
    let filter = "debug,roost_server=trace,roost_engine=trace,roost_log=trace,roost_process=trace";
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(lines.clone()).init();
    let mut door = Door::open().await;
    let offer = door.local().await.call("pair/create", json!({})).await.unwrap();
    let (_, pair) = door.post("/api/auth/exchange", None, &json!({ "pairing_token": offer["token"] })).await;
    let program = door.local().await.call("device/token", json!({ "name": "a script" })).await.unwrap();
    door.connect(program["token"].as_str().unwrap()).await.unwrap().hello().await;
    let mut client = door.connect(pair["access_token"].as_str().unwrap()).await.unwrap();
    client.hello().await;
    let send = json!({ "workspace_id": door.workspace().await, "prompt": "the prompt of this test" });
    client.call("session/send", send).await.unwrap();
    let (_runtime, agent) = door.runtimes().task().await;
    agent.say(facts::output("the answer of this test")).await;
    // What goes wrong is logged most.
    client.send("the prompt of this test").await;
    client.call("session/send", json!({ "prompt": 5, "session_id": "the prompt of this test" })).await.unwrap_err();
    assert!(door.connect("cdev_s_forged_in_this_test").await.is_err());
    agent.say(facts::exited()).await;
    client.event("stream_read_complete").await;
    door.post("/api/auth/refresh", None, &json!({ "refresh_token": pair["refresh_token"] })).await;
    door.post("/api/auth/refresh", None, &json!({ "refresh_token": pair["refresh_token"] })).await;
    door.close().await.stop().await;
    let lines = String::from_utf8(lines.0.lock().clone()).unwrap();
    let secrets = [&offer["token"], &offer["code"], &pair["access_token"], &pair["refresh_token"], &program["token"]];
    let secrets = secrets.map(|secret| secret.as_str().unwrap());
    for secret in secrets.into_iter().chain(["of this test", "forged_in_this_test"]) {
        assert!(!lines.contains(secret), "{secret} is in the log: {lines}");
    }
}
