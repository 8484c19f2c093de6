//! The MCP fixture as a program: `mcp_server <legacy|modern> <stdio|http>`. Over HTTP it prints its URL first.

// A program of tests fails as a test does.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use testkit::mcp_fixture::{FixtureEra, McpFixture, http, lines};

#[tokio::main]
async fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let era = match args.first().map(String::as_str) {
        Some("legacy") => FixtureEra::Legacy,
        Some("modern") => FixtureEra::Modern,
        _ => panic!("say legacy or modern"),
    };
    let fixture = Arc::new(McpFixture::new(era));
    match args.get(1).map(String::as_str) {
        Some("stdio") => lines::serve(fixture, tokio::io::stdin(), tokio::io::stdout()).await,
        Some("http") => {
            let any = ([127, 0, 0, 1], 0).into();
            http::serve(fixture, any, |address| println!("http://{address}/mcp")).await.unwrap();
        }
        _ => panic!("say stdio or http"),
    }
}
