//! The Clarity compiler: the configured program and no other.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roost_process::{Environment, Holder, Launch, RunId};

use super::InstallCommand;

/// How much of what the compiler prints is kept, in bytes.
const MAX_OUTPUT: usize = 64 * 1024;

/// The configured compiler.
#[derive(Clone)]
pub struct Compiler {
    /// A path, or a name in `PATH`.
    pub program: OsString,
    /// What it is started under, as agents are.
    pub holder: Arc<Holder>,
    /// The variables that it gets.
    pub environment: Environment,
}

/// Why there is no version or module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompilerError {
    /// The program is not there or does not start.
    #[error("{program} does not start ({reason}); install it, or name it in the variable CLARITYC_BIN of the daemon")]
    NotFound {
        /// The configured program.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// It took too long and was ended.
    #[error("{program} did not finish within {limit:?} and was ended")]
    TooSlow {
        /// The configured program.
        program: String,
        /// The time that it had.
        limit: Duration,
    },
    /// It found errors.
    #[error("{program} failed ({exit}): {output}")]
    Failed {
        /// The configured program.
        program: String,
        /// How it ended.
        exit: String,
        /// What it printed last.
        output: String,
    },
}

impl Compiler {
    /// The version that it prints.
    pub async fn version(&self, limit: Duration) -> Result<String, CompilerError> {
        Ok(self.run(vec!["--version".into()], Path::new("/"), limit).await?.trim().to_owned())
    }

    /// Compiles a source into a module; paths are relative to `folder`.
    pub async fn compile(
        &self,
        folder: &Path,
        source: &Path,
        artifact: &Path,
        limit: Duration,
    ) -> Result<(), CompilerError> {
        let args = ["compile".into(), source.into(), "-o".into(), artifact.into()].map(PathBuf::into_os_string);
        self.run(args.into(), folder, limit).await.map(drop)
    }

    /// Installs it with the operator's command; what that printed.
    pub async fn install(&self, command: &InstallCommand, limit: Duration) -> Result<String, CompilerError> {
        self.run_program(&command.program, command.args.clone(), Path::new("/"), limit).await
    }

    async fn run(&self, args: Vec<OsString>, cwd: &Path, limit: Duration) -> Result<String, CompilerError> {
        self.run_program(&self.program, args, cwd, limit).await
    }

    /// Runs a program to its end; whatever happens, nothing of it is left.
    async fn run_program(
        &self,
        program: &OsStr,
        args: Vec<OsString>,
        cwd: &Path,
        limit: Duration,
    ) -> Result<String, CompilerError> {
        let started = program.to_owned();
        let program = program.to_string_lossy().into_owned();
        let launch = Launch {
            run: RunId::fresh(),
            label: program.clone(),
            program: started,
            args,
            cwd: cwd.to_owned(),
            env: self.environment.clone(),
            stderr_lines: None,
        };
        let failed = |error: roost_process::Error| CompilerError::NotFound {
            program: program.clone(),
            reason: error.to_string(),
        };
        let mut running = self.holder.spawn(launch).await.map_err(failed)?;
        drop(running.stdin);
        let mut printed = String::new();
        let finished = tokio::time::timeout(limit, async {
            while let Ok(Some(batch)) = running.stdout.next_batch().await {
                batch.for_each(|line| {
                    if printed.len() < MAX_OUTPUT {
                        printed.push_str(&line.text());
                        printed.push('\n');
                    }
                });
            }
            running.control.wait_exit().await
        });
        let finished = finished.await;
        running.control.stop().await;
        match finished {
            Err(_) => Err(CompilerError::TooSlow { program, limit }),
            Ok(exit) if exit.success() => Ok(printed),
            Ok(exit) => {
                let said = format!("{printed}{}", running.stderr.text());
                Err(CompilerError::Failed { program, exit: exit.to_string(), output: said.trim().to_owned() })
            }
        }
    }
}
