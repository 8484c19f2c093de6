//! Files that make other programs run something: a change of one is more than an edit.

use std::ffi::OsStr;
use std::path::Path;

/// Folders of which every file counts, at any depth.
const FOLDERS: [&str; 20] = [
    ".bundle",
    ".buildkite",
    ".cargo",
    ".circleci",
    ".cursor",
    ".devcontainer",
    ".direnv",
    ".forgejo",
    ".git",
    ".gitea",
    ".github",
    ".gitlab",
    ".husky",
    ".idea",
    ".mvn",
    ".roost",
    ".ssh",
    ".vscode",
    ".yarn",
    ".zed",
];

/// Files of these names, at any depth: settings of shells, version managers, package managers, hooks and CI.
const FILES: [&str; 54] = [
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".dir-locals.el",
    ".drone.yml",
    ".env",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".gitattributes",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".inputrc",
    ".lefthook.yml",
    ".lldbinit",
    ".mcp.json",
    ".mise.toml",
    ".npmrc",
    ".nvimrc",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
    ".travis.yml",
    ".vimrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "bunfig.toml",
    "gradle-wrapper.properties",
    "jenkinsfile",
    "lefthook.yml",
    "mise.toml",
    "package.json",
    "pip.conf",
    "pnpm-workspace.yaml",
    "roost.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "sitecustomize.py",
    "usercustomize.py",
    "volta.json",
    "woodpecker.yml",
    ".woodpecker.yml",
];

/// The files of a workspace that steer a runtime: its settings, hooks and tool servers. Named by the runtime's adapter.
#[derive(Clone, Copy, Debug)]
pub struct ControlFiles {
    /// Names of folders of which every file counts, at any depth (`.agent`); a name, not a path.
    pub folders: &'static [&'static str],
    /// Names of files, at any depth (`agent.json`); a name, not a path.
    pub files: &'static [&'static str],
}

impl ControlFiles {
    /// Nothing in a workspace steers the runtime.
    pub const NONE: Self = Self { folders: &[], files: &[] };
}

/// Whether a file of the workspace, by its path from there, makes other programs run something or steers one of these
/// runtimes. Names are compared without regard to case, because some file systems do.
pub(crate) fn contains(path: &Path, runtimes: &[ControlFiles]) -> bool {
    let is_one = |names: &[&str], part: &OsStr| names.iter().any(|name| part.eq_ignore_ascii_case(name));
    let is_folder =
        |part: &OsStr| is_one(&FOLDERS, part) || runtimes.iter().any(|runtime| is_one(runtime.folders, part));
    let is_file = |name: &OsStr| is_one(&FILES, name) || runtimes.iter().any(|runtime| is_one(runtime.files, name));
    let Some(name) = path.file_name() else { return true };
    path.iter().any(is_folder)
        || is_file(name)
        // A folder with a `HEAD` may be a repository to git.
        || name == "HEAD"
        || name.to_string_lossy().to_ascii_lowercase().ends_with(".pth")
}
