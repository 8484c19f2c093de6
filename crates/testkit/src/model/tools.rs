//! The scripts' tool calls. The names of tools and arguments come from the list of tools in the request, so that one script
//! serves every agent.

use serde_json::{Map, Value, json};

use super::model_request::{ModelRequest, OfferedTool};
use super::script::{Act, say};

const SHELL: &[&str] = &["Bash", "bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command"];
/// Shells that take a command as a list of words.
const SHELL_BY_WORDS: &[&str] = &["shell", "local_shell"];
const WRITE: &[&str] = &["Write", "write", "write_file", "apply_patch"];
const READ: &[&str] = &["Read", "read", "read_file"];
const AGENT: &[&str] = &["Agent", "Task", "task"];
const ASK: &[&str] = &["AskUserQuestion", "request_user_input", "ask_user", "question"];
const PLAN: &[&str] = &["TodoWrite", "TaskCreate", "update_plan", "todowrite", "write_todos"];
/// Codex's newer models have one tool for everything: it takes a program that calls the others.
const PROGRAM: &[&str] = &["exec"];

/// Runs a command with the agent's shell tool, or inside a program where that is the only tool.
pub(super) fn shell(request: &ModelRequest, command: &str) -> Act {
    if let Some(tool) = find(request, SHELL) {
        return Act::Call(tool.clone(), Value::Object(shell_arguments(tool, command)));
    }
    program(request, &format!("tools.exec_command({{cmd: {}}})", json!(command)))
        .unwrap_or_else(|| none("SHELL", request))
}

/// Runs a command with Claude Code's shell tool and does not wait for its end.
pub(super) fn background(request: &ModelRequest, command: &str) -> Act {
    let Some(tool) = find(request, SHELL) else { return none("SHELL", request) };
    let mut arguments = shell_arguments(tool, command);
    arguments.insert("run_in_background".into(), true.into());
    Act::Call(tool.clone(), Value::Object(arguments))
}

/// Starts a sub-agent of Claude Code's or OpenCode's with this prompt.
pub(super) fn agent(request: &ModelRequest, prompt: &str) -> Act {
    let Some(tool) = find(request, AGENT) else { return none("AGENT", request) };
    let kind = if tool.name == "task" { "general" } else { "general-purpose" };
    let arguments = json!({ "description": "scripted agent", "prompt": prompt, "subagent_type": kind });
    Act::Call(tool.clone(), arguments)
}

/// Runs a command outside of Codex's sandbox, for this reason or for none.
pub(super) fn escalated(request: &ModelRequest, reason: Option<&str>) -> Act {
    let Some(tool) = find(request, SHELL) else { return none("SHELL", request) };
    let mut arguments = shell_arguments(tool, request.option("RUN:").unwrap_or("echo esc > out.txt"));
    arguments.insert("sandbox_permissions".into(), "require_escalated".into());
    arguments.extend(reason.map(|reason| ("justification".to_owned(), reason.into())));
    Act::Call(tool.clone(), Value::Object(arguments))
}

/// Writes a file with the agent's tool for that; as a patch where the tool takes patches.
pub(super) fn write(request: &ModelRequest, file: &str, content: &str) -> Act {
    let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Add File: {file}\n{added}*** End Patch\n");
    let Some(tool) = find(request, WRITE) else {
        let patched = program(request, &format!("tools.apply_patch({})", json!(patch)));
        return patched.unwrap_or_else(|| none("WRITE", request));
    };
    if tool.takes_text {
        return Act::Call(tool.clone(), Value::String(patch));
    }
    let mut arguments = file_arguments(request, tool, file);
    arguments.insert("content".into(), content.into());
    Act::Call(tool.clone(), Value::Object(arguments))
}

/// Reads a file with the agent's tool for that.
pub(super) fn read(request: &ModelRequest, file: &str) -> Act {
    let Some(tool) = find(request, READ) else { return none("READ", request) };
    Act::Call(tool.clone(), Value::Object(file_arguments(request, tool, file)))
}

/// Asks the user a question.
pub(super) fn ask(request: &ModelRequest) -> Act {
    let Some(tool) = find(request, ASK) else { return none("ASK", request) };
    let options = ["Red", "Blue"].map(|label| json!({ "label": label, "description": label.to_lowercase() }));
    let mut question = json!({ "question": "Which colour?", "header": "Colour", "options": options });
    match tool.name.as_str() {
        "AskUserQuestion" => question["multiSelect"] = false.into(),
        "request_user_input" => question["id"] = "colour".into(),
        "ask_user" => question["type"] = "choice".into(),
        _ => {}
    }
    Act::Call(tool.clone(), json!({ "questions": [question] }))
}

/// Sets a plan with the agent's tool for plans or to-do lists.
pub(super) fn plan(request: &ModelRequest) -> Act {
    let Some(tool) = find(request, PLAN) else { return none("PLAN", request) };
    let arguments = match tool.name.as_str() {
        "update_plan" => {
            json!({ "plan": [{ "step": "one", "status": "in_progress" }, { "step": "two", "status": "pending" }] })
        }
        "TaskCreate" => json!({ "subject": "step one", "description": "do one", "activeForm": "doing one" }),
        "write_todos" => json!({ "todos": [{ "description": "one", "status": "in_progress" }] }),
        _ => {
            let todo = json!({ "content": "one", "status": "in_progress", "activeForm": "doing one", "priority": "high", "id": "1" });
            json!({ "todos": [todo] })
        }
    };
    Act::Call(tool.clone(), arguments)
}

/// Calls the tool whose name has this part in it.
pub(super) fn named(request: &ModelRequest, part: &str) -> Act {
    let Some(tool) = request.tools.iter().find(|tool| tool.name.contains(part)) else { return none(part, request) };
    let arguments = if tool.takes("text") { json!({ "text": "ping" }) } else { json!({}) };
    Act::Call(tool.clone(), arguments)
}

/// Makes another call in a program, where there is a tool for programs.
fn program(request: &ModelRequest, call: &str) -> Option<Act> {
    let tool = find(request, PROGRAM).filter(|tool| tool.takes_text)?;
    Some(Act::Call(tool.clone(), Value::String(format!("const r = await {call}; text(JSON.stringify(r));"))))
}

/// The first offered tool that has one of these names.
fn find<'a>(request: &'a ModelRequest, names: &[&str]) -> Option<&'a OfferedTool> {
    names.iter().find_map(|name| request.tools.iter().find(|tool| tool.name == *name))
}

/// The text that the model says instead of a call whose tool is not offered; tests see it in the transcript.
fn none(what: &str, request: &ModelRequest) -> Act {
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    say(&format!("NO {what} TOOL among {}", names.join(", ")))
}

fn shell_arguments(tool: &OfferedTool, command: &str) -> Map<String, Value> {
    let mut arguments = Map::new();
    if SHELL_BY_WORDS.contains(&tool.name.as_str()) {
        arguments.insert("command".into(), json!(["bash", "-lc", command]));
        return arguments;
    }
    let name = if tool.takes("cmd") { "cmd" } else { "command" };
    arguments.insert(name.into(), command.into());
    if tool.takes("description") {
        arguments.insert("description".into(), "scripted command".into());
    }
    arguments
}

/// The argument that names the file. Some agents want absolute paths: `CWD:<folder>` in the prompt makes them.
fn file_arguments(request: &ModelRequest, tool: &OfferedTool, file: &str) -> Map<String, Value> {
    let folder = request.option("CWD:").and_then(|rest| rest.split_whitespace().next());
    let path = folder.map_or_else(|| file.to_owned(), |folder| format!("{}/{file}", folder.trim_end_matches('/')));
    let name = ["file_path", "filePath", "path"].into_iter().find(|name| tool.takes(name)).unwrap_or("path");
    Map::from_iter([(name.to_owned(), path.into())])
}
