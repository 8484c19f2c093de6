//! Plays the parts that the tests of the gateway need beside themselves: `hold` is the holder of programs, and
//! `server FAULT` an MCP server that does the handshake and then does what servers should not do.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// The bytes of an answer that is far too long.
const HUGE: usize = 100 * 1024 * 1024;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_deref().and_then(|part| part.to_str()) {
        Some("hold") => roost_process::hold::main(args),
        Some("server") => match serve(&args.next().unwrap_or_default().to_string_lossy()) {
            Ok(code) => code,
            Err(_) => ExitCode::FAILURE,
        },
        _ => {
            eprintln!("usage: gateway-probe hold … | server FAULT");
            ExitCode::from(2)
        }
    }
}

/// Answers every request, except calls of the tool `bad`.
fn serve(fault: &str) -> io::Result<ExitCode> {
    eprintln!("a server with the fault {fault:?}");
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        let is_bad = method == "tools/call" && message["params"]["name"] == "bad";
        match (method, fault) {
            ("server/discover", "ends-at-discovery") => return Ok(ExitCode::FAILURE),
            ("server/discover", _) => {
                writeln!(out, "{}", json!({ "id": id, "error": { "code": -32601, "message": "?" } }))?
            }
            ("initialize", _) => {
                let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} } });
                writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result }))?;
            }
            (_, "silent") if is_bad => {}
            (_, "wrong-id") if is_bad => writeln!(out, "{}", json!({ "id": 999_999, "result": {} }))?,
            (_, "not-json") if is_bad => writeln!(out, "{{\"id\":{id},\"result\":")?,
            (_, "huge") if is_bad => {
                write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":""#)?;
                let piece = [b'a'; 64 * 1024];
                for _ in 0..HUGE / piece.len() {
                    out.write_all(&piece)?;
                }
                writeln!(out, "\"}}}}")?;
            }
            (_, "exits") if is_bad => {
                eprintln!("out of luck");
                return Ok(ExitCode::from(3));
            }
            (_, "environment") if is_bad => {
                let variables: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                writeln!(out, "{}", json!({ "id": id, "result": { "variables": variables } }))?;
            }
            _ if id.is_null() => {}
            _ => writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [] } }))?,
        }
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
