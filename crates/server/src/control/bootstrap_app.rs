//! `clarity__bootstrap_app`: a new project, its module and its service; all of it or nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use roost_gateway::clarity::{ProjectFiles, ProjectNames, WrittenProject, read_artifact};
use roost_gateway::services::ServiceView;
use roost_model::ids::ServiceId;
use roost_rpc::{Fault, FaultCode};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::clarity::{patience, refuse_own_program};
use super::schema::{flag, number, object, text};
use super::services::{apply, restore, start_applied};
use super::{Call, ToolResult, internal, provisioning};
use crate::blocking::blocking;
use crate::fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    project_name: String,
    module_name: Option<String>,
    dir: Option<String>,
    #[serde(default)]
    auto_install: bool,
    timeout_seconds: Option<i64>,
    register_service: Option<bool>,
    start_now: Option<bool>,
    introspect: Option<bool>,
    #[serde(default)]
    overwrite: bool,
}

pub(super) fn input() -> Value {
    object(
        &[
            ("project_name", text("The project's folder: letters, digits, dots, dashes and underscores")),
            ("module_name", text("The module's name; App unless given")),
            ("dir", text("A folder below the daemon's, in which the project's is made")),
            ("auto_install", flag("Nothing is installed here; true is refused", false)),
            ("timeout_seconds", number("How long the compiler may take", 1, 600, 120)),
            ("register_service", flag("Whether the module becomes a service", true)),
            ("start_now", flag("Whether that service is started", true)),
            ("introspect", flag("Whether its tools are listed", true)),
            ("overwrite", flag("Whether files that say something else are replaced", false)),
        ],
        &["project_name"],
    )
}

/// In a task of its own: a caller who goes away meanwhile leaves no half of a project behind.
pub(super) async fn run(call: Call<'_>) -> ToolResult {
    let (host, caller, arguments) = (call.host.clone(), call.caller.clone(), call.arguments.clone());
    let (done, result) = oneshot::channel();
    call.host.daemon.spawn(async move {
        let made = make(Call { host: &host, caller: &caller, arguments: &arguments }).await;
        // Nobody is told if the caller is gone.
        let _ = done.send(made);
    });
    result.await.unwrap_or_else(|_| Err(shutting_down()))
}

async fn make(call: Call<'_>) -> ToolResult {
    refuse_own_program(call)?;
    let arguments: Arguments = call.parse()?;
    if arguments.auto_install {
        return Err(Fault::params("auto_install is not taken: Roost installs no programs for callers"));
    }
    let module = arguments.module_name.as_deref().unwrap_or("App");
    let names = ProjectNames::new(&arguments.project_name, module).map_err(Fault::params)?;
    let mut project = Project::write(call, names, arguments.dir.as_deref(), arguments.overwrite).await?;
    let built = tokio::select! {
        built = build(call, &mut project, &arguments) => built,
        () = call.host.daemon.closing.cancelled() => Err(shutting_down()),
    };
    match built {
        Ok(mut done) => {
            let shown =
                |files: &[PathBuf]| -> Vec<String> { files.iter().map(|file| file.display().to_string()).collect() };
            let is_idempotent = project.files.written.is_empty();
            for (name, value) in [
                ("project_name", json!(arguments.project_name)),
                ("module_name", json!(module)),
                ("path", json!(project.folder)),
                ("artifact", json!(project.artifact())),
                ("files_written", json!(shown(&project.files.written))),
                ("files_unchanged", json!(shown(&project.files.unchanged))),
                ("idempotent", json!(is_idempotent)),
            ] {
                done.insert(name.into(), value);
            }
            Ok(Value::Object(done))
        }
        Err(fault) => {
            project.undo(call).await;
            let message = format!("{}; everything is as it was", fault.message);
            Err(Fault { message, ..fault })
        }
    }
}

fn shutting_down() -> Fault {
    internal("the daemon is shutting down")
}

/// Compiles the project and registers its module.
async fn build(call: Call<'_>, project: &mut Project, arguments: &Arguments) -> Result<Map<String, Value>, Fault> {
    let compiler = &call.host.control.compiler;
    let limit = patience(arguments.timeout_seconds);
    let (source, artifact) = (Path::new(ProjectFiles::SOURCE), project.names.artifact());
    let compiled = compiler.compile(&project.folder, source, &artifact, limit).await;
    compiled.map_err(|error| Fault::new(FaultCode::ServiceFailed, error))?;
    if !arguments.register_service.unwrap_or(true) {
        let none = [("service", Value::Null), ("started", false.into()), ("introspected", false.into())];
        return Ok(none.map(|(name, value)| (name.to_owned(), value)).into_iter().collect());
    }
    let origin = json!({ "type": "local_wasm", "wasmPath": project.artifact(), "entry": "mcp_main" });
    let source = project.folder.join(source).display().to_string();
    let (id, before) = apply(call, &provisioning::manifest(&source, project.names.module(), origin)).await?;
    project.service = Some(AppliedService { id: id.clone(), before });
    let start = arguments.start_now.unwrap_or(true);
    let done = start_applied(call, &id, start, arguments.introspect.unwrap_or(true)).await?;
    match start && done["started"] != true {
        true => {
            let view = call.host.services.get(&id).map_err(fault::service)?;
            let why = view.life.last_error.clone().unwrap_or_else(|| "it did not start".into());
            Err(Fault::new(FaultCode::ServiceFailed, format_args!("the service does not run: {why}")))
        }
        false => Ok(done),
    }
}

/// A project on the disk, and how it is undone.
struct Project {
    names: ProjectNames,
    /// The folder below which everything is written.
    root: PathBuf,
    folder: PathBuf,
    files: WrittenProject,
    /// What was at the artifact's place before.
    artifact_before: Option<Vec<u8>>,
    service: Option<AppliedService>,
}

/// A service whose manifest was applied.
struct AppliedService {
    id: ServiceId,
    /// What it was, unless it is new.
    before: Option<Arc<ServiceView>>,
}

impl Project {
    async fn write(call: Call<'_>, names: ProjectNames, dir: Option<&str>, overwrite: bool) -> Result<Self, Fault> {
        let (root, dir) = (call.host.control.root.clone(), PathBuf::from(dir.unwrap_or(".")));
        let written = blocking(move || {
            let disk = |error: std::io::Error| Fault::params(format_args!("{} cannot be used: {error}", dir.display()));
            // Entered beneath the daemon's folder, so that neither `..` nor a link leads out of it.
            let base = Dir::open_ambient_dir(&root, ambient_authority()).map_err(disk)?;
            let inside = base.open_dir(&dir).map_err(disk)?;
            let artifact = names.folder().join(names.artifact());
            let artifact_before = read_artifact(&inside, &artifact).map_err(Fault::params)?;
            let files = ProjectFiles::new(&names).write(&inside, names.folder(), overwrite).map_err(Fault::params)?;
            let build = artifact.parent().unwrap_or(Path::new("."));
            if let Err(error) = inside.create_dir_all(build) {
                files.undo(&inside);
                return Err(disk(error));
            }
            let root = root.join(if dir == Path::new(".") { PathBuf::new() } else { dir });
            let folder = root.join(names.folder());
            Ok(Self { names, root, folder, files, artifact_before, service: None })
        });
        written.await?
    }

    fn artifact(&self) -> PathBuf {
        self.folder.join(self.names.artifact())
    }

    /// Puts everything back as it was.
    async fn undo(mut self, call: Call<'_>) {
        let replaced = match self.service.take() {
            Some(AppliedService { id, before: None }) => {
                if let Err(error) = call.host.services.remove(&id).await {
                    tracing::warn!(service = %id, %error, "The service of an unfinished project could not be removed.");
                }
                None
            }
            Some(AppliedService { before, .. }) => before,
            None => None,
        };
        let undone = blocking(move || {
            let Ok(root) = Dir::open_ambient_dir(&self.root, ambient_authority()) else { return };
            let artifact = self.names.folder().join(self.names.artifact());
            // What cannot be put back is not there to begin with.
            let _ = match &self.artifact_before {
                Some(before) => root.write(&artifact, before),
                None => root.remove_file(&artifact),
            };
            if self.artifact_before.is_none() {
                // Folders that hold something stay.
                for folder in artifact.ancestors().skip(1).take(2) {
                    let _ = root.remove_dir(folder);
                }
            }
            self.files.undo(&root);
        });
        if let Err(fault) = undone.await {
            tracing::warn!(error = fault.message, "An unfinished project could not be undone.");
        }
        // After its artifact, which it is started from.
        if let Some(before) = replaced
            && let Err(fault) = restore(call, &before).await
        {
            let error = fault.message;
            tracing::warn!(service = %before.id, error, "The service of an unfinished project could not be put back.");
        }
    }
}
