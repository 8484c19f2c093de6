//! Carries out registrations, or shows what they would change.

use std::path::PathBuf;

use roost_settings::{SettingsChange, Written};
use similar::TextDiff;

use super::{BootstrapError, ClientProgram, Reach, Registration, SettingsFolders, add_guidance, remove_guidance};

/// Whether a change is made or only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// The file is changed, and a copy of it is kept.
    Out,
    /// Nothing is changed.
    DryRun,
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutcome {
    /// The file, whether it exists or not.
    pub file: PathBuf,
    /// Whether the file was changed, or would be.
    pub is_changed: bool,
    /// The lines that change, and no others: what stands around them may be secret.
    pub diff: String,
    /// The file as it was before, if it was changed.
    pub backup: Option<PathBuf>,
    /// Why nothing was changed, if it could not be.
    pub error: Option<String>,
}

/// The settings of this machine's programs.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// Where programs keep their settings.
    pub folders: SettingsFolders,
    /// The program that serves the gateway over stdio: a path, or a name in `PATH`.
    pub command: String,
    /// The state directory, if it is not the usual one: a program that starts the gateway does not know it otherwise.
    pub state: Option<PathBuf>,
    /// The project whose `AGENTS.md` may tell of the gateway.
    pub project: Option<PathBuf>,
}

impl Bootstrap {
    /// How a program reaches the gateway that it starts by itself.
    pub fn stdio(&self) -> Reach {
        let state = self.state.iter().flat_map(|state| ["--state".to_owned(), state.display().to_string()]);
        let args = state.chain(["gateway", "serve", "--stdio"].map(Into::into)).collect();
        Reach::Stdio { command: self.command.clone(), args }
    }

    /// Registers the gateway in one program. Blocks on the disk.
    pub fn register(&self, client: ClientProgram, reach: &Reach, carry: Carry) -> FileOutcome {
        self.outcome(client, client.register(&self.folders, reach), carry)
    }

    /// Removes the gateway from one program. Blocks on the disk.
    pub fn unregister(&self, client: ClientProgram, carry: Carry) -> FileOutcome {
        self.outcome(client, client.unregister(&self.folders), carry)
    }

    /// What a program's settings say about the gateway. Blocks on the disk.
    pub fn status(&self, client: ClientProgram) -> Result<Registration, BootstrapError> {
        client.registration(&self.folders)
    }

    /// Tells the agents of the project about the gateway, or no longer; `None` if there is no project. Blocks on the disk.
    pub fn guide(&self, is_wanted: bool, carry: Carry) -> Option<FileOutcome> {
        let file = self.project.as_ref()?.join("AGENTS.md");
        let edit = if is_wanted { add_guidance } else { remove_guidance };
        let planned = SettingsChange::plan(&file, edit);
        Some(match planned {
            Ok(change) => carried(change, carry),
            Err(error) => failed(file, error),
        })
    }

    fn outcome(
        &self,
        client: ClientProgram,
        planned: Result<SettingsChange, BootstrapError>,
        carry: Carry,
    ) -> FileOutcome {
        match planned {
            Ok(change) => carried(change, carry),
            Err(error) => failed(client.file(&self.folders), error.to_string()),
        }
    }
}

fn carried(change: SettingsChange, carry: Carry) -> FileOutcome {
    let (file, is_changed) = (change.file().to_owned(), !change.is_empty());
    let diff = TextDiff::from_lines(change.before().unwrap_or_default(), change.after());
    let diff = diff.unified_diff().context_radius(0).to_string();
    let outcome = FileOutcome { file, is_changed, diff, backup: None, error: None };
    match carry {
        Carry::DryRun => outcome,
        Carry::Out => match change.write() {
            Ok(Written::Changed { backup }) => FileOutcome { backup: Some(backup), ..outcome },
            Ok(Written::Unchanged | Written::Created) => outcome,
            Err(error) => failed(outcome.file, error),
        },
    }
}

fn failed(file: PathBuf, error: String) -> FileOutcome {
    FileOutcome { file, is_changed: false, diff: String::new(), backup: None, error: Some(error) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn bootstrap(home: &TempDir) -> Bootstrap {
        let home = home.path().to_owned();
        let folders = SettingsFolders { config: home.join(".config"), home: home.clone(), codex: None, claude: None };
        Bootstrap { folders, command: "/opt/roost".into(), state: None, project: Some(home) }
    }

    #[test]
    fn a_dry_run_shows_the_lines_that_change_and_changes_nothing() {
        let home = TempDir::new().unwrap();
        let bootstrap = bootstrap(&home);
        let file = home.path().join(".codex/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "api_key = \"s3cret\"\n").unwrap();
        let shown = bootstrap.register(ClientProgram::Codex, &bootstrap.stdio(), Carry::DryRun);
        assert!(shown.is_changed && shown.diff.contains("+[mcp_servers.roost]"), "{shown:?}");
        assert!(!shown.diff.contains("s3cret"), "{}", shown.diff);
        assert_eq!(fs::read_to_string(&file).unwrap(), "api_key = \"s3cret\"\n");
        let done = bootstrap.register(ClientProgram::Codex, &bootstrap.stdio(), Carry::Out);
        assert_eq!((done.is_changed, &done.diff), (true, &shown.diff));
        assert_eq!(fs::read_to_string(done.backup.unwrap()).unwrap(), "api_key = \"s3cret\"\n");
        assert!(!bootstrap.register(ClientProgram::Codex, &bootstrap.stdio(), Carry::Out).is_changed, "a second time");
    }

    #[test]
    fn the_projects_agents_are_told_and_untold() {
        let home = TempDir::new().unwrap();
        let bootstrap = bootstrap(&home);
        assert!(bootstrap.guide(true, Carry::Out).unwrap().is_changed);
        assert!(fs::read_to_string(home.path().join("AGENTS.md")).unwrap().contains("MCP server `roost`"));
        assert!(bootstrap.guide(false, Carry::Out).unwrap().is_changed);
        assert_eq!(Bootstrap { project: None, ..bootstrap }.guide(true, Carry::Out), None);
    }
}
