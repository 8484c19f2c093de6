//! Control files: files that make other programs run something, so that changing one is more than an edit.

use std::path::Path;

/// Hidden files that only list exclusions or describe formatting. Every other hidden file or folder counts as a control
/// file: it may belong to a tool, an agent or a shell, and there are new ones every month.
const HARMLESS: [&str; 13] = [
    ".clang-format",
    ".dockerignore",
    ".editorconfig",
    ".eslintignore",
    ".gitignore",
    ".gitkeep",
    ".ignore",
    ".keep",
    ".mailmap",
    ".nojekyll",
    ".npmignore",
    ".prettierignore",
    ".rgignore",
];

/// Further control files by name, at any depth: settings of version managers, package managers, hooks and CI.
const FILES: [&str; 28] = [
    "appveyor.yml",
    "azure-pipelines.yaml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "bunfig.toml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "gradle-wrapper.jar",
    "gradle-wrapper.properties",
    "jenkinsfile",
    "lefthook-local.yml",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yml",
    "mise.local.toml",
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
    "wercker.yml",
    "woodpecker.yml",
];

/// The files of a workspace that steer a runtime: its settings, hooks and tool servers. Named by the runtime's
/// adapter; hidden ones count without being named.
#[derive(Clone, Copy, Debug)]
pub struct ControlFiles {
    /// Names of folders of which every file counts, at any depth (`agent.d`); a name, not a path.
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
    let names: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase()).collect();
    let Some((name, folders)) = names.split_last() else { return true };
    let in_hidden_folder = folders.iter().any(|folder| folder.starts_with('.'));
    let is_hidden = name.starts_with('.') && !HARMLESS.contains(&name.as_str());
    // A folder with a `HEAD` may be a repository to git.
    let is_known = FILES.contains(&name.as_str()) || name == "head";
    let is_one = |listed: &[&str], name: &String| listed.iter().any(|one| one.eq_ignore_ascii_case(name));
    let steers = |runtime: &ControlFiles| {
        is_one(runtime.files, name) || names.iter().any(|folder| is_one(runtime.folders, folder))
    };
    in_hidden_folder
        || is_hidden
        || is_known
        || name.ends_with(".pth")
        || name.ends_with(".code-workspace")
        || runtimes.iter().any(steers)
}
