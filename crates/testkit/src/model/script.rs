//! What the model does: a table of scripts, and the one that a conversation asks for.

use std::time::Duration;

use serde_json::Value;

use super::asked::{Asked, Tool};
use super::tools;

/// Characters in a piece of text.
const PIECE: usize = 12;

/// What the model answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It does this, one piece after the other.
    Acts(Vec<Act>, Pace),
    /// The provider refuses with this HTTP status.
    Refusal(u16),
    /// The answer begins, then the provider reports an error in it.
    Failure,
    /// The answer begins, then the connection breaks.
    Cut,
    /// Nothing comes, for as long as the client waits.
    Silence,
}

/// One part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// It says this, in these pieces.
    Say(Vec<String>),
    /// It thinks this, in these pieces.
    Think(Vec<String>),
    /// It calls a tool with these arguments, or with this text where the tool takes text.
    Call(Tool, Value),
}

/// How fast the pieces of an answer come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As the server was told.
    Usual,
    /// So slowly that somebody can interrupt it.
    Slow,
    /// As fast as they can be sent.
    Flood,
}

impl Pace {
    /// The time between two pieces, if the server was told `usual`.
    pub fn gap(self, usual: Duration) -> Duration {
        match self {
            Self::Usual => usual,
            Self::Slow => Duration::from_millis(100),
            Self::Flood => Duration::ZERO,
        }
    }
}

/// A script.
pub struct Script {
    /// Its name in a prompt.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// It calls one tool after the other, this often.
    rounds: usize,
    play: fn(&Asked) -> Reply,
}

/// Every script there is.
pub const SCRIPTS: &[Script] = &[
    once("text", "says one sentence in several pieces", |_| {
        says("Hello from the scripted model, streaming in several deltas.")
    }),
    once("think", "thinks, then says something", |_| {
        let thought = Act::Think(pieces("Let me think about this in a scripted way."));
        acts([thought, say("Thought it through.")])
    }),
    once("shell", "writes out.txt with a shell command; RUN:<command> runs that instead", |asked| {
        let command = asked.option("RUN:").unwrap_or("echo hi > out.txt");
        acts([say("I will use a shell command."), tools::shell(asked, command)])
    }),
    once("write", "writes out.txt with the tool that writes files", |asked| {
        acts([say("I will write the file."), tools::write(asked, "out.txt", "hi\n")])
    }),
    once("read", "reads in.txt with the tool that reads files", |asked| {
        acts([say("Reading."), tools::read(asked, "in.txt")])
    }),
    once("ls", "lists the folder with a shell command", |asked| acts([say("Listing."), tools::shell(asked, "ls")])),
    once("out", "prints five lines, slowly", |asked| {
        acts([say("Printing."), tools::shell(asked, "for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done")])
    }),
    once("big", "prints 2,000 lines, about 40 KB", |asked| {
        acts([say("Printing a lot."), tools::shell(asked, "seq -f 'this is line %g' 1 2000")])
    }),
    once("sleep", "runs a command that takes a minute", |asked| {
        acts([say("Sleeping now."), tools::shell(asked, "sleep 60")])
    }),
    once("parallel", "calls two tools in one answer", |asked| {
        let calls = ["one", "two"].map(|word| tools::shell(asked, &format!("echo {word} | tee {word}.txt")));
        acts([say("Two at once.")].into_iter().chain(calls))
    }),
    Script {
        name: "work",
        about: "says 50 pieces and calls a tool, twice",
        rounds: 2,
        play: |asked| {
            let command = format!("echo round {} >> work.txt", asked.results.len() + 1);
            acts([Act::Say(ticks(50)), tools::shell(asked, &command)])
        },
    },
    once("ask", "asks the user which colour", |asked| acts([say("A question first."), tools::ask(asked)])),
    once("plan", "makes a plan", |asked| acts([tools::plan(asked)])),
    once("mcp", "calls the tool whose name has probe_echo in it; TOOL:<part> picks another", |asked| {
        let part = asked.option("TOOL:").and_then(|rest| rest.split_whitespace().next()).unwrap_or("probe_echo");
        acts([say("Calling the tool."), tools::named(asked, part)])
    }),
    once("esc", "asks to leave the sandbox (Codex)", |asked| acts([say("Asking for more."), tools::escalated(asked)])),
    once("patch", "adds patched.txt by apply_patch in the shell (Codex)", |asked| {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: patched.txt\n+hi\n*** End Patch\nEOF";
        acts([say("Patching."), tools::shell(asked, patch)])
    }),
    once("slow", "streams for 20 seconds", |_| Reply::Acts(vec![Act::Say(ticks(200))], Pace::Slow)),
    once("flood", "streams 5,000 pieces at once", |_| Reply::Acts(vec![Act::Say(ticks(5000))], Pace::Flood)),
    once("recall", "says which prompts it knows", |asked| {
        let prompts = asked.prompts.join(" | ");
        says(&format!("RECALL saw {} prompt(s): {prompts}", asked.prompts.len()))
    }),
    once("look", "says which images it sees", |asked| {
        says(&format!("LOOK saw {} image(s): {}", asked.images.len(), asked.images.join(" | ")))
    }),
    once("hang", "never answers", |_| Reply::Silence),
    once("err400", "is refused as a bad request", |_| Reply::Refusal(400)),
    once("err401", "is refused for want of a login", |_| Reply::Refusal(401)),
    once("err429", "is refused for asking too often", |_| Reply::Refusal(429)),
    once("err500", "is refused by a broken provider", |_| Reply::Refusal(500)),
    once("errstream", "begins to answer, then reports an error", |_| Reply::Failure),
    once("cut", "begins to answer, then breaks the connection", |_| Reply::Cut),
];

const fn once(name: &'static str, about: &'static str, play: fn(&Asked) -> Reply) -> Script {
    Script { name, about, rounds: 1, play }
}

/// What the model answers to this conversation.
pub fn reply(asked: &Asked) -> Reply {
    if let Some(form) = &asked.form {
        return says(&filled(form).to_string());
    }
    // Agents ask for titles and summaries beside the conversation, and offer no tools then.
    if asked.tools.is_empty() {
        return says("ok title");
    }
    let known = || SCRIPTS.iter().map(|script| script.name).collect::<Vec<_>>().join(", ");
    let Some(name) = &asked.script else {
        return says(&format!("Say SCRIPT:<name> to tell me what to do; I know {}.", known()));
    };
    let Some(script) = SCRIPTS.iter().find(|script| script.name == name) else {
        return says(&format!("There is no script {name}; I know {}.", known()));
    };
    if asked.results.len() < script.rounds { (script.play)(asked) } else { says(&final_words(asked)) }
}

/// What the model was shown.
fn final_words(asked: &Asked) -> String {
    let seen = format!("FINAL saw {} tool result(s): {}", asked.results.len(), asked.results.join(" | "));
    if asked.notes.is_empty() { seen } else { format!("{seen}; notes: {}", asked.notes.join(" | ")) }
}

/// A document of this JSON schema.
fn filled(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str().map(str::to_lowercase).as_deref() {
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, schema)| (name.clone(), filled(schema))).collect()
        }
        Some("array") => Value::Array(Vec::new()),
        Some("number" | "integer") => 10.into(),
        Some("boolean") => false.into(),
        _ => "scripted".into(),
    }
}

fn ticks(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("tick{at} ")).collect()
}

/// The pieces in which a text is said.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}

/// Says a text in pieces.
pub(super) fn say(text: &str) -> Act {
    Act::Say(pieces(text))
}

fn says(text: &str) -> Reply {
    acts([say(text)])
}

fn acts(acts: impl IntoIterator<Item = Act>) -> Reply {
    Reply::Acts(acts.into_iter().collect(), Pace::Usual)
}
