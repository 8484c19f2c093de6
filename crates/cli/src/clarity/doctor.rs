//! `clarityctl doctor`: the daemon, the compiler and the folder of compiled modules.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use roost_rpc::{NoParams, StatusResult, method};
use serde::Serialize;

use super::control_plane::ControlPlane;
use crate::cmd::services::local_module::{BUILD_FOLDER, ModuleOptions};
use crate::error::Error;

/// What was found.
#[derive(Serialize)]
pub(super) struct ClarityReport {
    pub(super) ok: bool,
    checks: Vec<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<StatusResult>,
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    status: &'static str,
    detail: String,
}

impl Check {
    fn new(name: &'static str, found: Result<String, String>) -> Self {
        let status = if found.is_ok() { "pass" } else { "fail" };
        Self { name, status, detail: found.unwrap_or_else(|why| why) }
    }
}

/// Looks at everything that `clarityctl` needs.
pub(super) async fn examine(
    daemon: Result<ControlPlane, Error>,
    compiler: &OsStr,
    version_limit: Duration,
) -> ClarityReport {
    let (found, status) = match ask(daemon).await {
        Ok((place, status)) => (Ok(format!("reachable at {place}")), Some(status)),
        Err(error) => (Err(error.to_string()), None),
    };
    let folder = std::path::absolute(BUILD_FOLDER).unwrap_or_else(|_| Path::new(BUILD_FOLDER).to_owned());
    let made = match tokio::fs::create_dir_all(&folder).await {
        Ok(()) => Ok(format!("compiled modules go to {}", folder.display())),
        Err(error) => Err(format!("{} cannot be made: {error}", folder.display())),
    };
    let checks = vec![
        Check::new("daemon", found),
        Check::new("compiler", ModuleOptions::compiler_version(compiler, version_limit).await),
        Check::new("workspace", made),
    ];
    ClarityReport { ok: checks.iter().all(|check| check.status == "pass"), checks, status }
}

async fn ask(daemon: Result<ControlPlane, Error>) -> Result<(String, StatusResult), Error> {
    let daemon = daemon?;
    let status = daemon.call::<method::StatusGet>(NoParams {}).await?;
    Ok((daemon.place(), status))
}
