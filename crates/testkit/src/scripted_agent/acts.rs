//! What the agent does for the first word of a prompt.

use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{ClientReply, Wire};
use super::{Session, tool_server};

/// Between two pieces of an endless text.
const PAUSE: Duration = Duration::from_millis(20);
/// A result of this many bytes is a big one.
const BIG: usize = 40_000;

/// The client cancelled the turn, so that nothing more is done in it.
pub(super) struct Cancelled;

/// A running turn: what the acts speak through.
pub(super) struct ScriptedTurn<'a> {
    wire: &'a mut Wire,
    pub(super) session: &'a Session,
}

/// Plays a turn and returns ACP's reason for its end.
pub(super) fn play(wire: &mut Wire, session: &Session, prompt: &Value) -> &'static str {
    let blocks = prompt.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    let before = session.memory();
    session.remember(&texts.join("\n"));
    let mut words = texts.last().copied().unwrap_or_default().split_whitespace();
    let (act, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut turn = ScriptedTurn { wire, session };
    let played = match act {
        "stream" => turn.stream(),
        "write" => turn.write(name),
        "two" => turn.two(),
        "retry" => turn.retry(),
        "read" => turn.read(),
        "big" => turn.big(),
        "question" => turn.question(),
        "unknown" => turn.unknown(),
        "server" => turn.server(),
        "model" => {
            turn.say(&format!("My model is {}.", session.models.chosen));
            Ok(())
        }
        "later" => turn.later(),
        "lie" => turn.lie(name),
        "recall" => {
            let history = &texts[..texts.len().saturating_sub(1)];
            turn.say(&format!("What I know of you: {before}{}", history.join("\n")));
            Ok(())
        }
        _ => {
            turn.say("All is ");
            turn.say("well.");
            Ok(())
        }
    };
    match played {
        Ok(()) => "end_turn",
        Err(Cancelled) => "cancelled",
    }
}

impl ScriptedTurn<'_> {
    pub(super) fn update(&self, update: Value) {
        self.wire.notify("session/update", json!({ "sessionId": self.session.id, "update": update }));
    }

    /// A piece of text, without an id: all pieces of a turn belong together.
    pub(super) fn say(&self, text: &str) {
        self.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }));
    }

    /// Asks about a call that was never announced.
    pub(super) fn ask(&mut self, id: &str, kind: &str, input: &Value) -> u64 {
        let call = json!({ "toolCallId": id, "title": id, "kind": kind, "rawInput": input });
        let option = |kind: &str| json!({ "optionId": kind, "name": kind, "kind": kind });
        let options = [option("allow_once"), option("reject_once")];
        let params = json!({ "sessionId": self.session.id, "toolCall": call, "options": options });
        self.wire.request("session/request_permission", params)
    }

    /// Waits for the answer to a permission request: its id, and the reason if it was refused.
    pub(super) fn wait_for_permission(&mut self) -> Result<(u64, Result<(), String>), Cancelled> {
        let ClientReply::Answer(id, answer) = self.wire.wait_for_reply() else { return Err(Cancelled) };
        let reason = || answer["_meta"]["roost"]["reason"].as_str().unwrap_or("no reason").to_owned();
        match answer["outcome"]["optionId"].as_str() {
            Some("allow_once") => Ok((id, Ok(()))),
            Some(_) => Ok((id, Err(reason()))),
            None => Err(Cancelled),
        }
    }

    /// A call is over, without ever having been in progress.
    fn done(&self, id: &str, status: &str, output: &str) {
        let content = json!([{ "type": "content", "content": { "type": "text", "text": output } }]);
        self.update(json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content,
            "rawOutput": { "text": output },
        }));
    }

    fn stream(&mut self) -> Result<(), Cancelled> {
        loop {
            self.say("on and ");
            if self.wire.cancelled_within(PAUSE) {
                return Err(Cancelled);
            }
        }
    }

    fn write(&mut self, name: &str) -> Result<(), Cancelled> {
        let path = self.session.cwd.join(name);
        self.ask("write", "edit", &json!({ "path": path, "content": "hello" }));
        match self.wait_for_permission()?.1 {
            Ok(()) => {
                std::fs::write(path, "hello").unwrap();
                self.done("write", "completed", "written");
                self.say("It is written.");
            }
            // It says nothing more about the call.
            Err(reason) => self.say(&format!("It was refused: {reason}.")),
        }
        Ok(())
    }

    fn two(&mut self) -> Result<(), Cancelled> {
        let ids = ["first", "second"].map(|id| (self.ask(id, "execute", &json!({ "command": id })), id));
        for _ in ids {
            let (answered, permission) = self.wait_for_permission()?;
            let (_, id) = ids.iter().find(|(request, _)| *request == answered).unwrap();
            if permission.is_ok() {
                self.done(id, "completed", &format!("the {id} result"));
            }
        }
        self.say("Both are done.");
        Ok(())
    }

    fn retry(&mut self) -> Result<(), Cancelled> {
        for status in ["failed", "completed"] {
            self.ask("again", "execute", &json!({ "command": "again" }));
            if self.wait_for_permission()?.1.is_ok() {
                self.done("again", status, status);
            }
        }
        self.say("The second time it worked.");
        Ok(())
    }

    /// Reads without asking; announced as pending, then completed.
    fn read(&mut self) -> Result<(), Cancelled> {
        self.update(json!({
            "sessionUpdate": "tool_call", "toolCallId": "look", "title": "look", "kind": "read", "status": "pending",
            "rawInput": { "path": self.session.cwd },
        }));
        self.done("look", "completed", "nothing special");
        self.say("I had a look.");
        Ok(())
    }

    fn big(&mut self) -> Result<(), Cancelled> {
        self.ask("big", "execute", &json!({ "command": "big" }));
        if self.wait_for_permission()?.1.is_ok() {
            self.done("big", "completed", &"all work and no play \u{1f413}\n".repeat(BIG / 25));
        }
        self.say("That was big.");
        Ok(())
    }

    fn question(&mut self) -> Result<(), Cancelled> {
        let colour = json!({ "type": "string", "title": "Colour", "enum": ["red", "blue"] });
        let form = json!({ "type": "object", "properties": { "colour": colour }, "required": ["colour"] });
        let (session, message) = (&self.session.id, "Which colour?");
        let params = json!({ "mode": "form", "sessionId": session, "message": message, "requestedSchema": form });
        self.wire.request("elicitation/create", params);
        match self.wire.wait_for_reply() {
            ClientReply::Answer(_, answer) => self.say(&format!("You said: {answer}.")),
            ClientReply::Cancel => return Err(Cancelled),
        }
        Ok(())
    }

    fn unknown(&mut self) -> Result<(), Cancelled> {
        self.update(json!({ "sessionUpdate": "weather_report", "report": "rain" }));
        self.wire.notify("weather/changed", json!({ "to": "sun" }));
        self.say("Nobody understood that.");
        Ok(())
    }

    /// Says something that nobody knows when the turn is over.
    fn later(&mut self) -> Result<(), Cancelled> {
        self.say("Wait for it.");
        self.wire.notify_after_turn("weather/changed", json!({ "to": "snow" }));
        Ok(())
    }

    /// Calls a tool of the first tool server.
    fn server(&mut self) -> Result<(), Cancelled> {
        let Some(server) = self.session.servers.first() else {
            self.say("I have no server.");
            return Ok(());
        };
        self.ask("weather", "fetch", &json!({ "server": server["name"], "tool": "weather" }));
        if self.wait_for_permission()?.1.is_ok() {
            let answer = tool_server::call(server);
            self.done("weather", "completed", &answer);
            self.say(&format!("The server said: {answer}."));
        }
        Ok(())
    }
}
