//! The table of scripts, and the model's answer to a request by the script that it names.

use std::time::Duration;

use serde_json::Value;

use super::model_request::{ModelRequest, OfferedTool};
use super::tools;

/// Characters in a piece of text.
const PIECE: usize = 12;

/// The model's answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Parts of an answer, streamed piece by piece at this pace.
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
    /// A text of the answer, in the pieces in which it is streamed.
    Say(Vec<String>),
    /// A thought, in the pieces in which it is streamed.
    Think(Vec<String>),
    /// A tool call with these arguments, or with this text if the tool takes text.
    Call(OfferedTool, Value),
}

/// The pause between the pieces of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// With the pause that the server was started with.
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

/// One row of [`SCRIPTS`]: what the model does if the prompt names it.
pub struct Script {
    /// The name in a prompt, after `SCRIPT:`.
    pub name: &'static str,
    /// A description for the help of `cargo xtask model`.
    pub about: &'static str,
    /// Tool results after which the script is over and the model says what it was shown.
    rounds: usize,
    play: fn(&ModelRequest) -> Reply,
}

/// Every script, in the order in which help lists them.
pub const SCRIPTS: &[Script] = &[
    once("text", "says one sentence in several pieces", |_| {
        says("Hello from the scripted model, streaming in several deltas.")
    }),
    once("think", "thinks, then says something", |_| {
        let thought = Act::Think(pieces("Let me think about this in a scripted way."));
        acts([thought, say("Thought it through.")])
    }),
    once("shell", "writes out.txt with a shell command; RUN:<command> runs that instead", |request| {
        let command = request.option("RUN:").unwrap_or("echo hi > out.txt");
        acts([say("I will use a shell command."), tools::shell(request, command)])
    }),
    once("write", "writes out.txt with the tool that writes files", |request| {
        acts([say("I will write the file."), tools::write(request, "out.txt", "hi\n")])
    }),
    once("read", "reads in.txt with the tool that reads files", |request| {
        acts([say("Reading."), tools::read(request, "in.txt")])
    }),
    once("ls", "lists the folder with a shell command", |request| acts([say("Listing."), tools::shell(request, "ls")])),
    once("out", "prints five lines, slowly", |request| {
        acts([say("Printing."), tools::shell(request, "for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done")])
    }),
    once("big", "prints 2,000 lines, about 40 KB", |request| {
        acts([say("Printing a lot."), tools::shell(request, "seq -f 'this is line %g' 1 2000")])
    }),
    once("sleep", "runs a command that takes a minute", |request| {
        acts([say("Sleeping now."), tools::shell(request, "sleep 60")])
    }),
    once("parallel", "calls two tools in one answer; RUN:<program> runs that with 1 and with 2 instead", |request| {
        let commands = match request.option("RUN:") {
            Some(program) => ["1", "2"].map(|argument| format!("{program} {argument}")),
            None => ["one", "two"].map(|word| format!("echo {word} | tee {word}.txt")),
        };
        let calls = commands.map(|command| tools::shell(request, &command));
        acts([say("Two at once.")].into_iter().chain(calls))
    }),
    Script {
        name: "work",
        about: "says 50 pieces and calls a tool, twice",
        rounds: 2,
        play: |request| {
            let command = format!("echo round {} >> work.txt", request.results.len() + 1);
            acts([Act::Say(ticks(50)), tools::shell(request, &command)])
        },
    },
    once("background", "runs a command in the background (Claude Code); RUN:<command> runs that instead", |request| {
        let command = request.option("RUN:").unwrap_or("sleep 1; echo hi > out.txt");
        acts([say("In the background."), tools::background(request, command)])
    }),
    once(
        "agent",
        "starts a sub-agent that runs a command (Claude Code, OpenCode); RUN:<command> runs that instead",
        |request| {
            let command = request.option("RUN:").unwrap_or("echo hi > out.txt");
            acts([say("Starting an agent."), tools::agent(request, &format!("SCRIPT:shell RUN:{command}"))])
        },
    ),
    once("ask", "asks the user which colour", |request| acts([say("A question first."), tools::ask(request)])),
    once("plan", "makes a plan", |request| acts([tools::plan(request)])),
    once("mcp", "calls the tool whose name has probe_echo in it; TOOL:<part> picks another", |request| {
        let part = request.option("TOOL:").and_then(|rest| rest.split_whitespace().next()).unwrap_or("probe_echo");
        acts([say("Calling the tool."), tools::named(request, part)])
    }),
    once("esc", "asks to leave the sandbox (Codex); RUN:<command> runs that there", |request| {
        acts([say("Asking for more."), tools::escalated(request, Some("scripted escalation"))])
    }),
    once("sneak", "asks to leave the sandbox and does not say why (Codex); RUN:<command> runs that there", |request| {
        acts([say("Asking for more."), tools::escalated(request, None)])
    }),
    once("patch", "adds patched.txt by apply_patch in the shell (Codex)", |request| {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: patched.txt\n+hi\n*** End Patch\nEOF";
        acts([say("Patching."), tools::shell(request, patch)])
    }),
    once("slow", "streams for a minute", |_| Reply::Acts(vec![Act::Say(ticks(600))], Pace::Slow)),
    once("flood", "streams 5,000 pieces at once", |_| Reply::Acts(vec![Act::Say(ticks(5000))], Pace::Flood)),
    once("recall", "says which prompts it knows", |request| {
        let prompts = request.prompts.join(" | ");
        says(&format!("RECALL saw {} prompt(s): {prompts}", request.prompts.len()))
    }),
    once("look", "says which images it sees, and each FILE:<word> of files that it was shown", |request| {
        let (images, files) = (request.images.join(" | "), request.files.join(" | "));
        says(&format!("LOOK saw {} image(s): {images}; {} file(s): {files}", request.images.len(), request.files.len()))
    }),
    once("hang", "never answers", |_| Reply::Silence),
    once("err400", "is refused as a bad request", |_| Reply::Refusal(400)),
    once("err401", "is refused for want of a login", |_| Reply::Refusal(401)),
    once("err429", "is refused for asking too often", |_| Reply::Refusal(429)),
    once("err500", "is refused by a broken provider", |_| Reply::Refusal(500)),
    once("errstream", "begins to answer, then reports an error", |_| Reply::Failure),
    once("cut", "begins to answer, then breaks the connection", |_| Reply::Cut),
];

const fn once(name: &'static str, about: &'static str, play: fn(&ModelRequest) -> Reply) -> Script {
    Script { name, about, rounds: 1, play }
}

/// The model's answer to this request.
pub fn reply(request: &ModelRequest) -> Reply {
    if let Some(form) = &request.form {
        return says(&filled(form).to_string());
    }
    // Agents ask for titles and summaries beside the conversation, and offer no tools then.
    if request.tools.is_empty() {
        return says("ok title");
    }
    let known = || SCRIPTS.iter().map(|script| script.name).collect::<Vec<_>>().join(", ");
    let Some(name) = &request.script else {
        return says(&format!("Say SCRIPT:<name> to tell me what to do; I know {}.", known()));
    };
    let Some(script) = SCRIPTS.iter().find(|script| script.name == name) else {
        return says(&format!("There is no script {name}; I know {}.", known()));
    };
    if request.results.len() < script.rounds { (script.play)(request) } else { says(&final_words(request)) }
}

/// The last answer of a script: the tool results and notes that the model was shown.
fn final_words(request: &ModelRequest) -> String {
    let seen = format!("FINAL saw {} tool result(s): {}", request.results.len(), request.results.join(" | "));
    if request.notes.is_empty() { seen } else { format!("{seen}; notes: {}", request.notes.join(" | ")) }
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
    fn claude() -> Vec<OfferedTool> {
        tools(&[
            ("Bash", &["command", "description"]),
            ("Write", &["file_path", "content"]),
            ("Read", &["file_path"]),
            ("AskUserQuestion", &["questions"]),
            ("TodoWrite", &["todos"]),
            ("mcp__probe__probe_echo", &["text"]),
        ])
    }

    fn codex() -> Vec<OfferedTool> {
        let mut tools =
            tools(&[("exec_command", &["cmd"]), ("update_plan", &["plan"]), ("request_user_input", &["questions"])]);
        tools.push(OfferedTool { name: "apply_patch".into(), takes_text: true, ..OfferedTool::default() });
        tools.push(OfferedTool {
            namespace: Some("mcp__probe".into()),
            ..OfferedTool::new(&json!("probe_echo"), &json!({ "properties": { "text": {} } }))
        });
        tools
    }

    fn tools(offered: &[(&str, &[&str])]) -> Vec<OfferedTool> {
        let tool = |(name, arguments): &(&str, &[&str])| OfferedTool {
            name: (*name).to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            ..OfferedTool::default()
        };
        offered.iter().map(tool).collect()
    }

    fn request(prompt: &str, tools: Vec<OfferedTool>) -> ModelRequest {
        let mut request = ModelRequest { tools, ..ModelRequest::default() };
        request.add_user_text(prompt);
        request
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

    /// The text of an answer.
    fn answer_text(reply: &Reply) -> String {
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
        let program = || vec![OfferedTool { name: "exec".into(), takes_text: true, ..OfferedTool::default() }];
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
            assert_eq!(calls(reply(&request(prompt, tools))), [(name.to_owned(), arguments)], "{prompt}");
        }
        let question = |tools| calls(reply(&request("SCRIPT:ask", tools))).remove(0).1["questions"][0].clone();
        assert_eq!(question(claude())["multiSelect"], false);
        assert_eq!(question(codex())["id"], "colour");
        assert_eq!(question(opencode())["options"][1]["label"], "Blue");
    }

    #[test]
    fn a_tool_that_is_not_offered_is_missed_aloud() {
        let reply = reply(&request("SCRIPT:shell", tools(&[("glob", &[]), ("grep", &[])])));
        assert_eq!(answer_text(&reply), "I will use a shell command.NO SHELL TOOL among glob, grep");
    }

    #[test]
    fn with_results_the_model_says_what_it_was_shown() {
        let mut request = request("SCRIPT:parallel", claude());
        assert_eq!(calls(reply(&request)).len(), 2);
        request.add_tool_result("one");
        request.add_tool_result("denied: not today");
        assert_eq!(answer_text(&reply(&request)), "FINAL saw 2 tool result(s): one | denied: not today");
        request.add_user_text("NOTE:blue");
        assert_eq!(answer_text(&reply(&request)), "FINAL saw 2 tool result(s): one | denied: not today; notes: blue");
    }

    #[test]
    fn work_takes_two_rounds() {
        let mut request = request("SCRIPT:work", codex());
        for round in ["echo round 1 >> work.txt", "echo round 2 >> work.txt"] {
            assert_eq!(calls(reply(&request)), [("exec_command".to_owned(), json!({ "cmd": round }))]);
            request.add_tool_result("");
        }
        assert!(answer_text(&reply(&request)).starts_with("FINAL saw 2"));
    }

    #[test]
    fn a_side_job_never_runs_the_script() {
        assert_eq!(answer_text(&reply(&request("SCRIPT:err500", Vec::new()))), "ok title");
        let form = json!({ "type": "OBJECT", "properties": {
            "next_speaker": { "type": "STRING", "enum": ["user", "model"] }, "score": { "type": "NUMBER" },
            "why": { "type": "STRING" }, "sure": { "type": "BOOLEAN" }, "rest": { "type": "ARRAY" },
        } });
        let request = ModelRequest { form: Some(form), ..request("SCRIPT:shell", claude()) };
        let document: Value = serde_json::from_str(&answer_text(&reply(&request))).unwrap();
        assert_eq!(
            document,
            json!({ "next_speaker": "user", "score": 10, "why": "scripted", "sure": false, "rest": [] })
        );
    }

    #[test]
    fn who_names_no_script_is_told_which_there_are() {
        let none = ModelRequest { tools: claude(), ..ModelRequest::default() };
        assert!(answer_text(&reply(&none)).starts_with("Say SCRIPT:<name> to tell me what to do; I know text, think"));
        assert!(
            answer_text(&reply(&request("SCRIPT:dance", claude())))
                .starts_with("There is no script dance; I know text")
        );
    }

    #[test]
    fn the_model_remembers_what_the_conversation_holds() {
        let mut request = request("SCRIPT:write out.txt", claude());
        request.images.push("image/png".into());
        request.add_user_text("SCRIPT:recall");
        assert_eq!(answer_text(&reply(&request)), "RECALL saw 2 prompt(s): SCRIPT:write out.txt | SCRIPT:recall");
        request.add_user_text("SCRIPT:look");
        assert_eq!(answer_text(&reply(&request)), "LOOK saw 1 image(s): image/png; 0 file(s): ");
    }
}
