//! `clarityctl`: operates services. It prints what the daemon answers, as JSON.

use std::path::{Path, PathBuf};
use std::time::Duration;

use roost_model::service::Lifecycle;
use roost_model::service::manifest::ServiceOrigin;
use roost_rpc::{
    BootstrapParams, BootstrapRemoveParams, GatewayTransport, NoParams, SecretParams, SecretSetParams,
    ServiceApplyParams, ServiceDetailsParams, ServiceLogsParams, ServiceParams, ServiceRecord, ServiceRemoveParams,
    ServiceResult, Typed, method,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::arguments::{AddLocal, AuthAction, CtlCommand, DaemonOptions, GatewayAction, Named, StartSource};
use super::control_plane::ControlPlane;
use super::{bridge, doctor};
use crate::blocking::blocking;
use crate::cli::Context;
use crate::cmd::services::local_module::{BUILD_FOLDER, BuiltModule, LocalModules, ModuleNames, ModuleOptions};
use crate::cmd::services::starting;
use crate::cmd::{gateway, secrets};
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line};
use crate::stderr::print_stderr;

/// How long the compiler may take to say its version.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

/// A service that was added.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    service_id: String,
    source_file: PathBuf,
    wasm_path: PathBuf,
    module: String,
}

pub(crate) async fn run(daemon: DaemonOptions, command: CtlCommand, context: &Context) -> Result<Exit, Error> {
    let (url, token) = daemon.into_parts();
    let open = ControlPlane::open(url, token, context).await;
    if let CtlCommand::Doctor { compiler_bin } = &command {
        let report = doctor::examine(open, compiler_bin, VERSION_LIMIT).await;
        print(&report)?;
        return Ok(if report.ok { Exit::Completed } else { Exit::Failed });
    }
    Ctl(open?).carry_out(command, context).await
}

/// The daemon that is operated.
struct Ctl(ControlPlane);

impl Ctl {
    async fn carry_out(self, command: CtlCommand, context: &Context) -> Result<Exit, Error> {
        let daemon = &self.0;
        match command {
            CtlCommand::List => print(&daemon.call::<method::ServiceList>(NoParams {}).await?)?,
            CtlCommand::Status => print(&daemon.call::<method::StatusGet>(NoParams {}).await?)?,
            CtlCommand::Add(local) => {
                let built = local.build().await?;
                return self.add(&built, &local.options).await;
            }
            CtlCommand::StartSource(start) => {
                legacy("start-source");
                let StartSource { source, names, options } = *start;
                let built = options.build(&source, &names).await?;
                return self.add(&built, &options).await;
            }
            CtlCommand::AddAll(all) => return self.add_all(&all).await,
            CtlCommand::AddLocal(local) => {
                legacy("add-local");
                let absolute = |path: &Path| std::path::absolute(path).map_err(Error::NoCwd);
                let AddLocal { source, module, wasm, name, options } = *local;
                let (source, wasm) = (absolute(&source)?, absolute(&wasm)?);
                let built = BuiltModule { source, wasm, module, display_name: name };
                print(&self.apply(built.manifest(&options.entry, &options.agent)?).await?)?;
            }
            CtlCommand::AddRemote(remote) => print(&self.apply(remote.manifest()?).await?)?,
            CtlCommand::Start(service) => {
                return report(self.started::<method::ServiceStart>(self.find(&service).await?).await?);
            }
            CtlCommand::Stop(service) => {
                return report(daemon.call::<method::ServiceStop>(self.find(&service).await?).await?);
            }
            CtlCommand::Restart(service) => {
                return report(self.started::<method::ServiceRestart>(self.find(&service).await?).await?);
            }
            CtlCommand::Unquarantine(service) => {
                return report(daemon.call::<method::ServiceUnquarantine>(self.find(&service).await?).await?);
            }
            CtlCommand::Introspect(service) => {
                print(&daemon.call::<method::ServiceIntrospect>(self.find(&service).await?).await?)?;
            }
            CtlCommand::Remove { service, cleanup_artifacts } => self.remove(&service, cleanup_artifacts).await?,
            CtlCommand::Details { service, log_limit, event_limit, call_limit } => {
                let ServiceParams { service_id } = self.find(&service).await?;
                let [log_limit, event_limit, call_limit] = [log_limit, event_limit, call_limit].map(Some);
                let params = ServiceDetailsParams { service_id, log_limit, event_limit, call_limit };
                print(&daemon.call::<method::ServiceDetailsGet>(params).await?)?;
            }
            CtlCommand::Logs { service, limit } => {
                let ServiceParams { service_id } = self.find(&service).await?;
                let params = ServiceLogsParams { service_id, limit: Some(limit), after: None, follow: None };
                let read = daemon.call::<method::ServiceLogs>(params).await?;
                read.lines.iter().try_for_each(|line| screen::print(&one_line(line)))?;
            }
            CtlCommand::Auth { action } => return self.auth(action).await,
            CtlCommand::Bootstrap { clients, transport, endpoint, update_agents_md } => {
                let transport = if transport == "http" { GatewayTransport::Http } else { GatewayTransport::Stdio };
                let params = BootstrapParams {
                    clients: Some(clients),
                    transport: Some(transport),
                    endpoint,
                    update_agents_md: Some(update_agents_md),
                    dry_run: None,
                };
                let done = daemon.call::<method::BootstrapApply>(params).await?;
                print(&done)?;
                return Ok(failed_if(done.results.iter().any(|result| result.error.is_some())));
            }
            CtlCommand::BootstrapRemove { clients } => {
                let params = BootstrapRemoveParams { clients: Some(clients), ..Default::default() };
                let done = daemon.call::<method::BootstrapRemove>(params).await?;
                print(&done)?;
                return Ok(failed_if(!done.removed));
            }
            // Examined before the daemon has to be there.
            CtlCommand::Doctor { .. } => {}
            CtlCommand::Gateway { action: GatewayAction::Serve { stdio: _ } } => match self.0 {
                ControlPlane::Socket(_) => return gateway::run(gateway::Args::all_services(), context).await,
                ControlPlane::Url(url) => bridge::serve(url).await?,
            },
        }
        Ok(Exit::Completed)
    }

    async fn apply(&self, manifest: Map<String, Value>) -> Result<ServiceResult, Error> {
        self.0.call::<method::ServiceApply>(ServiceApplyParams { manifest }).await
    }

    /// Starts a service, or starts it again, and shows how far that has come.
    async fn started<M>(&self, params: ServiceParams) -> Result<ServiceResult, Error>
    where
        M: Typed<Params = ServiceParams, Result = ServiceResult>,
    {
        let look = || self.0.call::<method::ServiceGet>(params.clone());
        starting::watched(self.0.call::<M>(params.clone()), look).await
    }

    /// Registers a module, starts it and lists its tools.
    async fn start(&self, built: &BuiltModule, options: &ModuleOptions) -> Result<(Added, ServiceRecord), Error> {
        let applied = self.apply(built.manifest(&options.entry, &options.agent)?).await?.service;
        let service_id = applied.service_id.to_string();
        let params = ServiceParams { service_id: service_id.clone() };
        let service = self.started::<method::ServiceStart>(params).await?.service;
        let BuiltModule { source, wasm, module, .. } = built.clone();
        Ok((Added { service_id, source_file: source, wasm_path: wasm, module }, service))
    }

    async fn add(&self, built: &BuiltModule, options: &ModuleOptions) -> Result<Exit, Error> {
        let (added, service) = self.start(built, options).await?;
        let mut answer = json!({ "ok": !has_failed(&service) });
        merge(&mut answer, &added);
        if let Some(error) = failure(&service) {
            answer["error"] = error.into();
        }
        print(&answer)?;
        Ok(failed_if(has_failed(&service)))
    }

    /// Adds every source that can be added; one that cannot does not keep the others from it.
    async fn add_all(&self, all: &LocalModules) -> Result<Exit, Error> {
        let sources = all.sources()?;
        let (mut services, mut failures) = (Vec::new(), Vec::new());
        for source in &sources {
            let added = async {
                let built = all.options.build(source, &ModuleNames::default()).await?;
                self.start(&built, &all.options).await
            };
            match added.await {
                Ok((added, service)) => {
                    failures.extend(failure(&service).map(|error| json!({ "sourceFile": source, "error": error })));
                    services.push(added);
                }
                Err(error) => failures.push(json!({ "sourceFile": source, "error": error.to_string() })),
            }
        }
        let root = std::path::absolute(&all.dir).map_err(Error::NoCwd)?;
        let mut answer = json!({
            "ok": failures.is_empty(), "rootDir": root, "scanned": sources.len(), "added": services.len(),
            "services": services,
        });
        if sources.is_empty() {
            answer["note"] = "no .clarity files found".into();
        }
        let exit = failed_if(!failures.is_empty());
        if !failures.is_empty() {
            answer["failures"] = failures.into();
        }
        print(&answer)?;
        Ok(exit)
    }

    async fn find(&self, named: &Named) -> Result<ServiceParams, Error> {
        let all = self.0.call::<method::ServiceList>(NoParams {}).await?.items;
        let name = named.service.as_str();
        let found = all.iter().find(|one| [one.service_id.as_str(), &one.namespace, &one.module].contains(&name));
        match found {
            Some(found) => Ok(ServiceParams { service_id: found.service_id.to_string() }),
            None => {
                let known = all.into_iter().map(|one| one.service_id.to_string()).collect();
                Err(Error::UnknownService { name: name.to_owned(), known })
            }
        }
    }

    async fn remove(&self, named: &Named, cleanup: bool) -> Result<(), Error> {
        let params = self.find(named).await?;
        let service = self.0.call::<method::ServiceGet>(params.clone()).await?.service;
        // The module may lie below another folder than the daemon's: it is deleted here, with the user's own rights.
        let params = ServiceRemoveParams { service_id: params.service_id, cleanup_artifacts: None };
        let removed = self.0.call::<method::ServiceRemove>(params).await?;
        let mut answer = serde_json::to_value(&removed).unwrap_or_default();
        if cleanup && let ServiceOrigin::LocalWasm { wasm_path, .. } = service.manifest.spec.origin {
            answer["artifactRemoved"] =
                blocking(move || Ok(delete_built(Path::new(""), Path::new(&wasm_path)))).await?.into();
        }
        print(&answer)
    }

    async fn auth(&self, action: AuthAction) -> Result<Exit, Error> {
        let daemon = &self.0;
        match action {
            AuthAction::Providers => print(&daemon.call::<method::SecretProviders>(NoParams {}).await?)?,
            AuthAction::ListSecrets => print(&daemon.call::<method::SecretList>(NoParams {}).await?)?,
            AuthAction::Validate { auth_ref } => {
                let check = daemon.call::<method::SecretValidate>(SecretParams { auth_ref }).await?;
                print(&check)?;
                return Ok(failed_if(!check.valid));
            }
            AuthAction::SetSecret { auth_ref, secret } => {
                let secret = match secret {
                    Some(secret) => {
                        print_stderr(
                            "clarityctl: a secret on the command line can be seen by other programs and stays in the \
                             shell's history; leave it out, and it is read from stdin",
                        );
                        secret.into()
                    }
                    None => secrets::ask_for(&auth_ref).await?,
                };
                print(&daemon.call::<method::SecretSet>(SecretSetParams { auth_ref, secret }).await?)?;
            }
            AuthAction::DeleteSecret { auth_ref } => {
                print(&daemon.call::<method::SecretDelete>(SecretParams { auth_ref }).await?)?;
            }
        }
        Ok(Exit::Completed)
    }
}

/// Deletes a module that was compiled below this folder, and no other file.
fn delete_built(cwd: &Path, wasm: &Path) -> bool {
    let (Ok(folder), Ok(file)) = (cwd.join(BUILD_FOLDER).canonicalize(), wasm.canonicalize()) else { return false };
    file.starts_with(folder) && file.is_file() && std::fs::remove_file(file).is_ok()
}

fn print(value: &impl Serialize) -> Result<(), Error> {
    screen::print_pretty_json(value)
}

/// Prints a service; it failed if the service did.
fn report(answer: ServiceResult) -> Result<Exit, Error> {
    print(&answer)?;
    Ok(failed_if(has_failed(&answer.service)))
}

fn has_failed(service: &ServiceRecord) -> bool {
    matches!(service.runtime.lifecycle, Lifecycle::Crashed | Lifecycle::Quarantined)
}

fn failure(service: &ServiceRecord) -> Option<String> {
    has_failed(service).then(|| service.runtime.last_error.clone().unwrap_or_else(|| "it failed".into()))
}

fn failed_if(is_failed: bool) -> Exit {
    if is_failed { Exit::Failed } else { Exit::Completed }
}

fn merge(into: &mut Value, members: &impl Serialize) {
    if let (Value::Object(into), Ok(Value::Object(members))) = (into, serde_json::to_value(members)) {
        into.extend(members);
    }
}

fn legacy(command: &str) {
    print_stderr(format_args!(
        "clarityctl: `{command}` is old; `clarityctl add SERVICE` compiles, registers and starts"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modules_in_the_build_folder_are_deleted() {
        let folder = tempfile::TempDir::new().unwrap();
        let build = folder.path().join(BUILD_FOLDER);
        std::fs::create_dir_all(&build).unwrap();
        let (built, elsewhere, link) = (build.join("a.wasm"), folder.path().join("a.wasm"), build.join("link.wasm"));
        std::fs::write(&built, "x").unwrap();
        std::fs::write(&elsewhere, "x").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        for spared in [&elsewhere, &link, &build.join("../../a.wasm"), &build] {
            assert!(!delete_built(folder.path(), spared), "{}", spared.display());
        }
        assert!(elsewhere.exists());
        assert!(delete_built(folder.path(), &built) && !built.exists());
    }
}
