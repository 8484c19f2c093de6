//! How fast the tools of many services are listed.

use std::time::Instant;

use serde_json::{Value, json};

use super::Gateway;
use super::backend::HttpEcho;
use crate::Outcome;
use crate::door::daemon::Home;
use crate::figure::{Table, Target, median, millis};
use crate::http::McpSession;

const SERVICES: usize = 100;
const TOOLS_EACH: usize = 20;
const ROUNDS: usize = 20;

/// Adds the time of a warm `tools/list` over [`SERVICES`] services.
pub(super) fn run(table: &mut Table) -> Outcome {
    let home = Home::with("", testkit::agents::bin().into())?;
    let gateway = Gateway::start(&home)?;
    let echo = HttpEcho::start(TOOLS_EACH - 1)?;
    for at in 0..SERVICES {
        gateway.apply(&format!("service{at}"), &echo.origin(&format!("/{at}")))?;
    }
    let session = gateway.session()?;
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        let began = Instant::now();
        let tools = all_tools(&session)?;
        times.push(millis(began.elapsed()));
        // The gateway's own tools are listed, too.
        if tools < SERVICES * TOOLS_EACH {
            return Err(format!("{tools} tools are listed, fewer than {}", SERVICES * TOOLS_EACH).into());
        }
    }
    // The first one is not warm.
    let warm = median(times.split_off(1));
    table.add("gateway", "tools/list of 100 services, 2,000 tools", warm, "ms", Target::AtMost(10.0));
    gateway.stop()
}

/// How many tools are listed, on all pages.
fn all_tools(session: &McpSession) -> Outcome<usize> {
    let (mut tools, mut cursor) = (0, Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = session.request("tools/list", &params)?;
        let listed = page.pointer("/result/tools").and_then(Value::as_array);
        tools += listed.ok_or_else(|| format!("tools/list was answered with: {page}"))?.len();
        cursor = page.pointer("/result/nextCursor").cloned().unwrap_or_default();
        if cursor.is_null() {
            return Ok(tools);
        }
    }
}
