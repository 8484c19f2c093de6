//! A second ACP agent, as unlike the demo as the protocol allows: it announces late or never, jumps from pending to
//! completed, asks about calls that it never announced, lies if a prompt says so, and keeps its sessions on disk so that
//! they can be resumed.
//!
//! Its behaviour is that of recorded real agents. It is a plain blocking program; a test binary becomes it by calling
//! [`main`]. The first word of a prompt says what it does.

mod acts;
mod lies;
mod models;
mod tool_server;
mod wire;

use std::path::PathBuf;

use serde_json::{Value, json};

use models::Models;
pub use tool_server::{answer as weather_answer, main as tool_server, url as tool_server_url};
use wire::Wire;

/// The folder of the agent's sessions, below `HOME`.
pub const SESSIONS: &str = ".scripted-agent";

/// The text that the tool server's only tool returns.
pub const WEATHER: &str = "sunny with a chance of hens";

/// The variable that names the way in which the agent lets its model be chosen; see [`MODELS_BY`].
pub const MODELS: &str = "SCRIPTED_MODELS";

/// The values of [`MODELS`]: by a config option of ACP, or by the older `session/set_model`. Without one, no model can
/// be chosen.
pub const MODELS_BY: [&str; 2] = ["option", "request"];

/// A session: its id, where it works, the tool servers it was given, and its model.
struct Session {
    id: String,
    cwd: PathBuf,
    servers: Vec<Value>,
    models: Models,
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
                let mut answer = made.models.offer();
                answer["sessionId"] = made.id.as_str().into();
                wire.answer(&id, answer);
                session = Some(made);
            }
            "session/resume" => {
                let known = Session::new(params["sessionId"].as_str().unwrap_or_default().to_owned(), params);
                if known.file().is_file() {
                    wire.answer(&id, known.models.offer());
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
                    wire.finish_turn();
                }
                None => wire.refuse(&id, -32002, "Resource not found"),
            },
            method => match session.as_mut().and_then(|session| session.models.choose(method, params)) {
                Some(Ok(answer)) => wire.answer(&id, answer),
                Some(Err(why)) => wire.refuse(&id, -32602, &why),
                None => wire.refuse(&id, -32601, "Method not found"),
            },
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
            "mcpCapabilities": { "http": true, "sse": true },
        },
        "agentInfo": { "name": "scripted", "version": "1.0.0" },
        "authMethods": [],
    })
}

impl Session {
    fn new(id: String, params: &Value) -> Self {
        let cwd = params["cwd"].as_str().unwrap_or_default().into();
        let servers = params["mcpServers"].as_array().cloned().unwrap_or_default();
        Self { id, cwd, servers, models: Models::default() }
    }

    fn file(&self) -> PathBuf {
        // The agent is a program of its own: its home is in its environment, as a real agent's.
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        home.join(SESSIONS).join(&self.id)
    }

    /// Adds to what the session remembers.
    fn remember(&self, text: &str) {
        let file = self.file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, self.memory() + text + "\n").unwrap();
    }

    /// The texts of all prompts so far, one line each; empty if the session is unknown.
    fn memory(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }
}
