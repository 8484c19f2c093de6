//! Tools about Clarity projects that write nothing.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use roost_gateway::clarity::{
    self, Compiler, CompilerError, InstallCommand, ProjectFiles, ProjectNames, SourceQuery, TOPICS, list_sources,
};
use roost_rpc::{Fault, FaultCode, Scope};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::schema::{flag, number, object, text};
use super::services::clamp;
use super::{Call, ToolResult};
use crate::blocking::blocking;

/// Sources that one answer names, and the characters of each that it shows.
const MAX_SOURCES: usize = 200;
const MAX_EXCERPT: usize = 8000;
/// How long the compiler may take.
const MAX_SECONDS: usize = 600;
/// How long it may take to say its version.
const MAX_VERSION_SECONDS: usize = 30;
/// How long what it said is believed.
const VERSION_GOOD_FOR: Duration = Duration::from_secs(10);

pub(super) fn help_input() -> Value {
    object(&[("topic", json!({ "type": "string", "enum": TOPICS, "default": TOPICS[0] }))], &[])
}

pub(super) async fn help(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        topic: Option<String>,
    }
    let Arguments { topic } = call.parse()?;
    let topic = topic.unwrap_or_else(|| TOPICS[0].into());
    let unknown = || Fault::params(format_args!("there is no help on \"{topic}\"; topics: {}", TOPICS.join(", ")));
    let details = clarity::help(&topic).ok_or_else(unknown)?;
    Ok(json!({ "topic": topic, "details": details, "all_topics": TOPICS }))
}

pub(super) fn sources_input() -> Value {
    object(
        &[
            ("dir", text("A folder below the working folder")),
            ("recursive", flag("Whether folders below are looked into", true)),
            ("limit", number("How many are named", 1, MAX_SOURCES as u64, 50)),
            ("include_excerpt", flag("Whether the beginning of each is shown", false)),
            ("excerpt_chars", number("How much of each is shown", 64, MAX_EXCERPT as u64, 512)),
        ],
        &[],
    )
}

pub(super) async fn sources(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        dir: Option<String>,
        recursive: Option<bool>,
        limit: Option<i64>,
        #[serde(default)]
        include_excerpt: bool,
        excerpt_chars: Option<i64>,
    }
    let arguments: Arguments = call.parse()?;
    let root = match call.session() {
        Some(session) => PathBuf::from(call.host.sessions.get(session).await?.cwd),
        None => call.host.control.root.clone(),
    };
    let dir = arguments.dir.filter(|dir| dir != ".").unwrap_or_default();
    let query = SourceQuery {
        recursive: arguments.recursive.unwrap_or(true),
        limit: clamp(arguments.limit, MAX_SOURCES, 50),
        excerpt: arguments.include_excerpt.then(|| clamp(arguments.excerpt_chars, MAX_EXCERPT, 512).max(64)),
    };
    let (folder, from) = (PathBuf::from(&dir), root.clone());
    let found = blocking(move || list_sources(&from, &folder, query)).await?.map_err(Fault::params)?;
    let item = |source: &clarity::Source| {
        let mut item = json!({ "file": source.file, "module": source.module });
        if let Some(excerpt) = &source.excerpt {
            item["excerpt"] = excerpt.as_str().into();
        }
        item
    };
    Ok(json!({
        "workspace": root, "dir": if dir.is_empty() { "." } else { &dir },
        "total_found": found.total, "returned": found.items.len(),
        "items": Value::from_iter(found.items.iter().map(item)),
    }))
}

pub(super) fn structure_input() -> Value {
    object(
        &[
            ("project_name", text("The project's folder")),
            ("module_name", text("The module's name")),
            ("include_templates", flag("Whether the files' texts are shown", true)),
        ],
        &[],
    )
}

pub(super) async fn project_structure(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        project_name: Option<String>,
        module_name: Option<String>,
        include_templates: Option<bool>,
    }
    let arguments: Arguments = call.parse()?;
    let project = arguments.project_name.as_deref().unwrap_or("my-clarity-app");
    let names = ProjectNames::new(project, arguments.module_name.as_deref().unwrap_or("App")).map_err(Fault::params)?;
    let ProjectFiles(files) = ProjectFiles::new(&names);
    let shows_text = arguments.include_templates.unwrap_or(true);
    let tree: Vec<_> = files.iter().map(|(path, _)| format!("{project}/{path}")).collect();
    let file = |(path, text): &(&str, String)| match shows_text {
        true => json!({ "path": path, "content": text }),
        false => json!({ "path": path }),
    };
    Ok(json!({
        "guidance": format!(
            "Sources go below {project}/src; `clarityc compile {} -o {}` makes the module. clarity__bootstrap_app does both.",
            ProjectFiles::SOURCE, names.artifact().display()
        ),
        "tree": tree,
        "files": Value::from_iter(files.iter().map(file)),
    }))
}

pub(super) fn compiler_input() -> Value {
    object(
        &[
            (
                "auto_install",
                flag("If it is missing, run the install command of whoever started the daemon; needs admin", false),
            ),
            (
                "timeout_seconds",
                number("How long an installation may take; a version gets at most 30", 1, MAX_SECONDS as u64, 120),
            ),
        ],
        &[],
    )
}

/// How long the compiler may take, as a caller asked.
pub(super) fn patience(seconds: Option<i64>) -> Duration {
    Duration::from_secs(clamp(seconds, MAX_SECONDS, 120) as u64)
}

/// Refuses a program that the caller would choose.
pub(super) fn refuse_own_program(call: Call<'_>) -> Result<(), Fault> {
    match ["compiler_bin", "install_command"].into_iter().find(|name| call.arguments.contains_key(*name)) {
        Some(name) => Err(Fault::params(format_args!(
            "{name} is not taken: the compiler is the daemon's own (CLARITYC_BIN), and nothing is installed for a caller"
        ))),
        None => Ok(()),
    }
}

/// What the compiler last said of its version. Everybody may ask, agents unasked, so it is started once at a time and seldom;
/// who waits for the lock gets what the one before found.
#[derive(Default)]
pub(crate) struct CompilerVersion(Mutex<Option<(Instant, Result<String, CompilerError>)>>);

impl CompilerVersion {
    /// Installs the compiler, one caller at a time, and asks it for its version then.
    async fn install(
        &self,
        compiler: &Compiler,
        command: &InstallCommand,
        limit: Duration,
    ) -> (Result<String, CompilerError>, Result<String, CompilerError>) {
        let mut last = self.0.lock().await;
        let installed = compiler.install(command, limit).await;
        let version = compiler.version(Duration::from_secs(MAX_VERSION_SECONDS as u64)).await;
        *last = Some((Instant::now(), version.clone()));
        (installed, version)
    }

    async fn get(&self, compiler: &Compiler, limit: Duration) -> Result<String, CompilerError> {
        let mut last = self.0.lock().await;
        if let Some((at, version)) = &*last
            && at.elapsed() < VERSION_GOOD_FOR
        {
            return version.clone();
        }
        let version = compiler.version(limit).await;
        *last = Some((Instant::now(), version.clone()));
        version
    }
}

pub(super) async fn ensure_compiler(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        #[serde(default)]
        auto_install: bool,
        timeout_seconds: Option<i64>,
    }
    refuse_own_program(call)?;
    let Arguments { auto_install, timeout_seconds } = call.parse()?;
    let compiler = &call.host.control.compiler;
    let name = compiler.program.to_string_lossy();
    let limit = Duration::from_secs(clamp(timeout_seconds, MAX_VERSION_SECONDS, MAX_VERSION_SECONDS) as u64);
    let error = match call.host.compiler_version.get(compiler, limit).await {
        Ok(version) => {
            return Ok(json!({ "compiler_bin": name, "available": true, "installed": false, "version": version }));
        }
        Err(error) => error,
    };
    let mut next_steps = vec![match &error {
        CompilerError::NotFound { .. } => "install clarityc, or name it in CLARITYC_BIN, and restart the daemon",
        CompilerError::TooSlow { .. } | CompilerError::Failed { .. } => "run it in a terminal to see what is wrong",
    }];
    if auto_install {
        if call.caller.scope < Scope::Admin {
            return Err(Fault::new(FaultCode::Forbidden, "auto_install needs the scope admin, or the local user"));
        }
        match &call.host.control.installer {
            Ok(command) => return install(call, command, patience(timeout_seconds)).await,
            Err(why) => next_steps.push(why),
        }
    }
    let error = error.to_string();
    Ok(json!({
        "compiler_bin": name, "available": false, "installed": false, "error": error, "next_steps": next_steps,
    }))
}

/// Installs the compiler with the operator's command, and looks whether it is there now.
async fn install(call: Call<'_>, command: &InstallCommand, limit: Duration) -> ToolResult {
    let compiler = &call.host.control.compiler;
    let name = compiler.program.to_string_lossy();
    tracing::info!(compiler = %name, caller = ?call.caller.device, "The Clarity compiler is being installed.");
    let (installed, version) = call.host.compiler_version.install(compiler, command, limit).await;
    let installation = match &installed {
        Ok(printed) => json!({ "ok": true, "output": printed.trim() }),
        Err(error) => json!({ "ok": false, "error": error.to_string() }),
    };
    let mut result = json!({
        "compiler_bin": name, "available": version.is_ok(), "installed": installed.is_ok(), "install": installation,
    });
    match version {
        Ok(version) => result["version"] = version.into(),
        Err(error) => {
            result["error"] = error.to_string().into();
            result["next_steps"] = json!(["run the install command in a terminal to see what is wrong"]);
        }
    }
    Ok(result)
}
