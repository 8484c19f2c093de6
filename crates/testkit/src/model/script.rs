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
    once("parallel", "calls two tools in one answer; RUN:<program> runs that with 1 and with 2 instead", |asked| {
        let commands = match asked.option("RUN:") {
            Some(program) => ["1", "2"].map(|argument| format!("{program} {argument}")),
            None => ["one", "two"].map(|word| format!("echo {word} | tee {word}.txt")),
        };
        let calls = commands.map(|command| tools::shell(asked, &command));
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
    once("slow", "streams for a minute", |_| Reply::Acts(vec![Act::Say(ticks(600))], Pace::Slow)),
    once("flood", "streams 5,000 pieces at once", |_| Reply::Acts(vec![Act::Say(ticks(5000))], Pace::Flood)),
    once("recall", "says which prompts it knows", |asked| {
        let prompts = asked.prompts.join(" | ");
        says(&format!("RECALL saw {} prompt(s): {prompts}", asked.prompts.len()))
    }),
    once("look", "says which images it sees, and each FILE:<word> of files that it was shown", |asked| {
        let (images, files) = (asked.images.join(" | "), asked.files.join(" | "));
        says(&format!("LOOK saw {} image(s): {images}; {} file(s): {files}", asked.images.len(), asked.files.len()))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The tools of each agent, by the names that matter to scripts.
    fn claude() -> Vec<Tool> {
        tools(&[
            ("Bash", &["command", "description"]),
            ("Write", &["file_path", "content"]),
            ("Read", &["file_path"]),
            ("AskUserQuestion", &["questions"]),
            ("TodoWrite", &["todos"]),
            ("mcp__probe__probe_echo", &["text"]),
        ])
    }

    fn codex() -> Vec<Tool> {
        let mut tools =
            tools(&[("exec_command", &["cmd"]), ("update_plan", &["plan"]), ("request_user_input", &["questions"])]);
        tools.push(Tool { name: "apply_patch".into(), takes_text: true, ..Tool::default() });
        tools.push(Tool {
            namespace: Some("mcp__probe".into()),
            ..Tool::new(&json!("probe_echo"), &json!({ "properties": { "text": {} } }))
        });
        tools
    }

    fn tools(offered: &[(&str, &[&str])]) -> Vec<Tool> {
        let tool = |(name, arguments): &(&str, &[&str])| Tool {
            name: (*name).to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            ..Tool::default()
        };
        offered.iter().map(tool).collect()
    }

    fn asked(prompt: &str, tools: Vec<Tool>) -> Asked {
        let mut asked = Asked { tools, ..Asked::default() };
        asked.hear(prompt);
        asked
    }

    /// The calls of an answer.
    fn calls(reply: Reply) -> Vec<(String, Value)> {
        let Reply::Acts(acts, _) = reply else { return Vec::new() };
        let call = |act| match act {
            Act::Call(tool, arguments) => Some((tool.name, arguments)),
            Act::Say(_) | Act::Think(_) => None,
        };
        acts.into_iter().filter_map(call).collect()
    }

    /// What an answer says.
    fn said(reply: &Reply) -> String {
        let Reply::Acts(acts, _) = reply else { return String::new() };
        acts.iter().map(|act| if let Act::Say(pieces) = act { pieces.concat() } else { String::new() }).collect()
    }

    #[test]
    fn a_script_calls_the_tools_that_it_is_offered_in_their_own_words() {
        let gemini = || {
            tools(&[
                ("run_shell_command", &["command"]),
                ("write_file", &["file_path", "content"]),
                ("write_todos", &["todos"]),
            ])
        };
        let opencode = || {
            tools(&[
                ("bash", &["command", "description"]),
                ("write", &["filePath", "content"]),
                ("question", &["questions"]),
            ])
        };
        let program = || vec![Tool { name: "exec".into(), takes_text: true, ..Tool::default() }];
        let patch = "*** Begin Patch\n*** Add File: out.txt\n+hi\n*** End Patch\n";
        for (prompt, tools, name, arguments) in [
            (
                "SCRIPT:shell",
                claude(),
                "Bash",
                json!({ "command": "echo hi > out.txt", "description": "scripted command" }),
            ),
            ("SCRIPT:shell RUN:make all\nthanks", codex(), "exec_command", json!({ "cmd": "make all" })),
            ("SCRIPT:ls", gemini(), "run_shell_command", json!({ "command": "ls" })),
            (
                "SCRIPT:ls",
                program(),
                "exec",
                json!("const r = await tools.exec_command({cmd: \"ls\"}); text(JSON.stringify(r));"),
            ),
            ("SCRIPT:write CWD:/w/ please", claude(), "Write", json!({ "file_path": "/w/out.txt", "content": "hi\n" })),
            ("SCRIPT:write", codex(), "apply_patch", json!(patch)),
            ("SCRIPT:write", opencode(), "write", json!({ "filePath": "out.txt", "content": "hi\n" })),
            ("SCRIPT:read", claude(), "Read", json!({ "file_path": "in.txt" })),
            ("SCRIPT:mcp", claude(), "mcp__probe__probe_echo", json!({ "text": "ping" })),
            ("SCRIPT:mcp", codex(), "probe_echo", json!({ "text": "ping" })),
            ("SCRIPT:mcp TOOL:todos now", gemini(), "write_todos", json!({})),
            (
                "SCRIPT:plan",
                gemini(),
                "write_todos",
                json!({ "todos": [{ "description": "one", "status": "in_progress" }] }),
            ),
        ] {
            assert_eq!(calls(reply(&asked(prompt, tools))), [(name.to_owned(), arguments)], "{prompt}");
        }
        let question = |tools| calls(reply(&asked("SCRIPT:ask", tools))).remove(0).1["questions"][0].clone();
        assert_eq!(question(claude())["multiSelect"], false);
        assert_eq!(question(codex())["id"], "colour");
        assert_eq!(question(opencode())["options"][1]["label"], "Blue");
    }

    #[test]
    fn a_tool_that_is_not_offered_is_missed_aloud() {
        let reply = reply(&asked("SCRIPT:shell", tools(&[("glob", &[]), ("grep", &[])])));
        assert_eq!(said(&reply), "I will use a shell command.NO SHELL TOOL among glob, grep");
    }

    #[test]
    fn with_results_the_model_says_what_it_was_shown() {
        let mut asked = asked("SCRIPT:parallel", claude());
        assert_eq!(calls(reply(&asked)).len(), 2);
        asked.see("one");
        asked.see("denied: not today");
        assert_eq!(said(&reply(&asked)), "FINAL saw 2 tool result(s): one | denied: not today");
        asked.hear("NOTE:blue");
        assert_eq!(said(&reply(&asked)), "FINAL saw 2 tool result(s): one | denied: not today; notes: blue");
    }

    #[test]
    fn work_takes_two_rounds() {
        let mut asked = asked("SCRIPT:work", codex());
        for round in ["echo round 1 >> work.txt", "echo round 2 >> work.txt"] {
            assert_eq!(calls(reply(&asked)), [("exec_command".to_owned(), json!({ "cmd": round }))]);
            asked.see("");
        }
        assert!(said(&reply(&asked)).starts_with("FINAL saw 2"));
    }

    #[test]
    fn a_side_job_never_runs_the_script() {
        assert_eq!(said(&reply(&asked("SCRIPT:err500", Vec::new()))), "ok title");
        let form = json!({ "type": "OBJECT", "properties": {
            "next_speaker": { "type": "STRING", "enum": ["user", "model"] }, "score": { "type": "NUMBER" },
            "why": { "type": "STRING" }, "sure": { "type": "BOOLEAN" }, "rest": { "type": "ARRAY" },
        } });
        let asked = Asked { form: Some(form), ..asked("SCRIPT:shell", claude()) };
        let document: Value = serde_json::from_str(&said(&reply(&asked))).unwrap();
        assert_eq!(
            document,
            json!({ "next_speaker": "user", "score": 10, "why": "scripted", "sure": false, "rest": [] })
        );
    }

    #[test]
    fn who_names_no_script_is_told_which_there_are() {
        let none = Asked { tools: claude(), ..Asked::default() };
        assert!(said(&reply(&none)).starts_with("Say SCRIPT:<name> to tell me what to do; I know text, think"));
        assert!(said(&reply(&asked("SCRIPT:dance", claude()))).starts_with("There is no script dance; I know text"));
    }

    #[test]
    fn the_model_remembers_what_the_conversation_holds() {
        let mut asked = asked("SCRIPT:write out.txt", claude());
        asked.images.push("image/png".into());
        asked.hear("SCRIPT:recall");
        assert_eq!(said(&reply(&asked)), "RECALL saw 2 prompt(s): SCRIPT:write out.txt | SCRIPT:recall");
        asked.hear("SCRIPT:look");
        assert_eq!(said(&reply(&asked)), "LOOK saw 1 image(s): image/png; 0 file(s): ");
    }
}
