//! The input of the checks: the files that git knows or would add, and the packages of the workspace.

use std::fs;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

use crate::Result;

/// The checkout as plain data, read once for all checks.
#[derive(Default)]
pub(crate) struct Repo {
    pub(crate) files: Vec<File>,
    pub(crate) packages: Vec<Package>,
    /// The crates of other people that are built on this machine.
    pub(crate) third_party: Vec<ThirdParty>,
}

/// A crate from a registry, with what its manifest says about its licence.
pub(crate) struct ThirdParty {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
}

/// A file by its path from the root; bytes that are not UTF-8 are replaced.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A member of the workspace, as cargo's metadata describes it.
#[derive(Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its folder from the root, such as `crates/log`.
    pub(crate) folder: String,
    /// The workspace members it depends on.
    pub(crate) uses: Vec<Dependency>,
    /// Everything it depends on, by the names that its code uses.
    pub(crate) dependencies: Vec<Dependency>,
    /// The first file of each of its targets.
    pub(crate) targets: Vec<String>,
}

/// One dependency of a package, by the name that its code uses.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) only_in_tests: bool,
}

impl Repo {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .other_options(["--locked".to_owned(), "--filter-platform".to_owned(), host()?])
            .exec()
            .map_err(|error| format!("cargo metadata failed: {error}"))?;
        let files = paths(root)?
            .into_iter()
            // A file that git lists but that is gone was deleted and not committed yet.
            .filter_map(|path| Some(File { text: lossy(&fs::read(root.join(&path)).ok()?), path }))
            .collect();
        Ok(Self { files, packages: packages(root, &metadata), third_party: third_party(&metadata) })
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

fn paths(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        // A checkout mounted into a container belongs to another user; listing its names is harmless.
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot start git, which tidy asks for the list of files: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed, run tidy in a git checkout: {}", lossy(&output.stderr)));
    }
    Ok(lossy(&output.stdout).split_terminator('\0').map(str::to_owned).collect())
}

fn packages(root: &Path, metadata: &Metadata) -> Vec<Package> {
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let used = |dependency: &cargo_metadata::Dependency| Dependency {
        name: dependency.rename.clone().unwrap_or_else(|| dependency.name.clone()),
        only_in_tests: dependency.kind == DependencyKind::Development,
    };
    let package = |package: &cargo_metadata::Package| Package {
        name: package.name.to_string(),
        folder: package.manifest_path.parent().map(|path| relative(path.as_std_path())).unwrap_or_default(),
        uses: package.dependencies.iter().filter(|dependency| dependency.path.is_some()).map(used).collect(),
        dependencies: package.dependencies.iter().map(used).collect(),
        targets: package.targets.iter().map(|target| relative(target.src_path.as_std_path())).collect(),
    };
    metadata.workspace_packages().into_iter().map(package).collect()
}

fn third_party(metadata: &Metadata) -> Vec<ThirdParty> {
    let others = metadata.packages.iter().filter(|package| package.source.is_some());
    let third_party = others.map(|package| ThirdParty {
        name: package.name.to_string(),
        version: package.version.to_string(),
        licence: package.license.clone(),
    });
    third_party.collect()
}

/// The compiler's name for this machine, such as `x86_64-unknown-linux-gnu`. Crates for other targets are left out,
/// because cargo has not even downloaded them.
fn host() -> Result<String> {
    let output = Command::new("rustc")
        .args(["--print", "host-tuple"])
        .output()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    Ok(lossy(&output.stdout).trim().to_owned())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
impl Repo {
    /// A repository of these files and no packages.
    pub(crate) fn from_files(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        Self { files: files.iter().map(file).collect(), ..Self::default() }
    }
}
