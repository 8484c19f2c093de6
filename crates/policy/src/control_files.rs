//! Files that make other programs run something: a change of one is more than an edit.

use std::path::Path;

/// Folders of which every file counts, at any depth.
const FOLDERS: [&str; 24] = [
    ".bundle",
    ".buildkite",
    ".cargo",
    ".circleci",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".direnv",
    ".forgejo",
    ".gemini",
    ".git",
    ".gitea",
    ".github",
    ".gitlab",
    ".husky",
    ".idea",
    ".mvn",
    ".opencode",
    ".roost",
    ".ssh",
    ".vscode",
    ".yarn",
    ".zed",
];

/// Files of these names, at any depth: settings of agents, shells, version managers, package managers, hooks and CI.
const FILES: [&str; 56] = [
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
    "opencode.json",
    "opencode.jsonc",
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

/// Whether a file of the workspace, by its path from there, makes other programs run something. Names are compared
/// without regard to case, because some file systems do.
pub(crate) fn contains(path: &Path) -> bool {
    let name_of = |part: &std::ffi::OsStr| part.to_string_lossy().to_ascii_lowercase();
    let in_folder = path.components().any(|part| FOLDERS.contains(&name_of(part.as_os_str()).as_str()));
    let Some(name) = path.file_name() else { return true };
    let lower = name_of(name);
    // A folder with a `HEAD` may be a repository to git.
    in_folder || FILES.contains(&lower.as_str()) || name == "HEAD" || lower.ends_with(".pth")
}
