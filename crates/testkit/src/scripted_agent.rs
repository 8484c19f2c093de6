//! A second ACP agent, as unlike the demo as the protocol allows: it announces late or never, jumps from pending to
//! completed, asks about calls that it never announced, and keeps its sessions on disk so that they can be resumed.
//!
//! Its behaviour is that of recorded real agents. It is a plain blocking program; a test binary becomes it by calling
//! [`main`]. The first word of a prompt says what it does.

mod acts;
mod tool_server;
mod wire;

use std::path::PathBuf;

use serde_json::{Value, json};

pub use tool_server::main as tool_server;
use wire::Wire;

/// Where sessions are kept, below `HOME`.
pub const SESSIONS: &str = ".scripted-agent";

/// What the tool server says.
pub const WEATHER: &str = "sunny with a chance of hens";

/// A session: its id, where it works, and the tool servers it was given.
struct Session {
    id: String,
    cwd: PathBuf,
    servers: Vec<Value>,
}

/// Serves stdin and stdout until stdin ends; never returns.
pub fn main() -> ! {
    let mut wire = Wire::open();
    let mut session = None;
    while let Some(message) = wire.next() {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id").cloned()) else { continue };
        let params = &message["params"];
        match method {
            "initialize" => wire.answer(&id, introduction()),
            "session/new" => {
                let made = Session::new(format!("scripted-{}", std::process::id()), params);
                made.remember("");
                wire.answer(&id, json!({ "sessionId": made.id }));
                session = Some(made);
            }
            "session/resume" => {
                let known = Session::new(params["sessionId"].as_str().unwrap_or_default().to_owned(), params);
                if known.file().is_file() {
                    wire.answer(&id, json!({}));
                    session = Some(known);
                } else {
                    wire.refuse(&id, -32002, "Resource not found");
                }
            }
            "session/prompt" => match &session {
                Some(session) => {
                    let end = acts::play(&mut wire, session, &params["prompt"]);
                    let usage = json!({ "inputTokens": 7, "outputTokens": 5, "totalTokens": 12 });
                    wire.answer(&id, json!({ "stopReason": end, "usage": usage }));
                }
                None => wire.refuse(&id, -32002, "Resource not found"),
            },
            _ => wire.refuse(&id, -32601, "Method not found"),
        }
    }
    std::process::exit(0)
}

fn introduction() -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": false,
            "sessionCapabilities": { "resume": {} },
            "mcpCapabilities": { "http": false, "sse": false },
        },
        "agentInfo": { "name": "scripted", "version": "1.0.0" },
        "authMethods": [],
    })
}

impl Session {
    fn new(id: String, params: &Value) -> Self {
        let cwd = params["cwd"].as_str().unwrap_or_default().into();
        Self { id, cwd, servers: params["mcpServers"].as_array().cloned().unwrap_or_default() }
    }

    fn file(&self) -> PathBuf {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        home.join(SESSIONS).join(&self.id)
    }

    /// Adds to what the session remembers.
    fn remember(&self, text: &str) {
        let file = self.file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, self.memory() + text + "\n").unwrap();
    }

    /// Everything that was said to the session.
    fn memory(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }
}
