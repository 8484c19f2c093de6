//! Services that are files of this machine: Clarity sources, which are compiled first, and wasm modules.
//!
//! The compiler runs here, as the person who types the command; no daemon runs a program because a client named it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ignore::WalkBuilder;
use serde_json::{Map, Value, json};

use super::agent_flags::AgentFlags;
use super::compiler::{self, CompilerOutput};
use super::declare;
use crate::error::Error;
use crate::screen::one_line;
use crate::stderr::print_stderr;

/// Where compiled modules are put, below the current folder.
pub(crate) const BUILD_FOLDER: &str = ".clarity/build";
/// The ending of a Clarity source.
const SOURCE: &str = "clarity";
/// The ending of a module.
const MODULE: &str = "wasm";
/// How long one compilation may take, unless the caller says otherwise.
const COMPILE_SECONDS: u64 = 600;
/// How deep folders are entered.
const MAX_DEPTH: usize = 32;

/// How modules are made and declared; the same for one and for many.
#[derive(clap::Args)]
pub(crate) struct ModuleOptions {
    /// The exported function that is its entry
    #[arg(long, default_value = "mcp_main", value_name = "FUNCTION")]
    pub(crate) entry: String,
    #[command(flatten)]
    pub(crate) agent: AgentFlags,
    /// The Clarity compiler
    #[arg(long, env = "CLARITYC_BIN", default_value = "clarityc", value_name = "PROGRAM")]
    pub(crate) compiler_bin: OsString,
    /// How long one compilation may take
    #[arg(long, value_name = "SECONDS", default_value_t = COMPILE_SECONDS, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) compile_timeout: u64,
}

/// A service that is a file of this machine.
#[derive(clap::Args)]
pub(crate) struct LocalModule {
    /// A Clarity source (.clarity may be left out), which is compiled, or a wasm module
    #[arg(value_name = "SERVICE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) names: ModuleNames,
    #[command(flatten)]
    pub(crate) options: ModuleOptions,
}

/// What one module is called, and where it is put.
#[derive(Default, clap::Args)]
pub(crate) struct ModuleNames {
    /// Its name, which its tools begin with [default: the file's]
    #[arg(long)]
    pub(crate) module: Option<String>,
    /// Where the compiled module is put [default: .clarity/build/MODULE.wasm]
    #[arg(long, value_name = "FILE")]
    pub(crate) wasm: Option<PathBuf>,
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
}

/// All Clarity sources of a folder.
#[derive(clap::Args)]
pub(crate) struct LocalModules {
    /// Where the sources are
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Also look into the folders below; hidden and ignored ones and node_modules are left out
    #[arg(long)]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) options: ModuleOptions,
}

/// A module that can be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuiltModule {
    pub(crate) source: PathBuf,
    pub(crate) wasm: PathBuf,
    pub(crate) module: String,
    pub(crate) display_name: Option<String>,
}

impl LocalModule {
    /// Compiles the source, unless a module is given.
    pub(crate) async fn build(&self) -> Result<BuiltModule, Error> {
        if self.file.extension().is_some_and(|ending| ending == MODULE) {
            let file = existing(&self.file)?;
            let module = self.names.module.clone().unwrap_or_else(|| stem(&file));
            return Ok(BuiltModule { source: file.clone(), wasm: file, module, display_name: self.names.name.clone() });
        }
        self.options.build(&self.file, &self.names).await
    }
}

impl LocalModules {
    /// The sources, ordered by path; two of one name are refused, because their modules would have the same file.
    pub(crate) fn sources(&self) -> Result<Vec<PathBuf>, Error> {
        let dir = existing(&self.dir)?;
        let walk = WalkBuilder::new(&dir)
            .max_depth(Some(if self.recursive { MAX_DEPTH } else { 1 }))
            .follow_links(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != "node_modules")
            .build();
        let files = walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == SOURCE);
        let mut found: Vec<_> = files.map(ignore::DirEntry::into_path).filter(is_source).collect();
        found.sort();
        let twin = |file: &PathBuf| found.iter().find(|other| *other != file && stem(other) == stem(file));
        match found.iter().find_map(|file| Some((file, twin(file)?))) {
            Some((one, other)) => Err(Error::BadManifest(format!(
                "{} and {} have the same name; add them one by one with --module",
                one.display(),
                other.display()
            ))),
            None => Ok(found),
        }
    }
}

impl ModuleOptions {
    /// Compiles a source whose ending may be left out.
    pub(crate) async fn build(&self, source: &Path, names: &ModuleNames) -> Result<BuiltModule, Error> {
        let has_ending = source.extension().is_some_and(|ending| ending == SOURCE);
        let source = if has_ending { source.to_owned() } else { append(source, SOURCE) };
        let source = existing(&source)?;
        let module = names.module.clone().unwrap_or_else(|| stem(&source));
        if module.contains(['/', '\\']) || module.is_empty() {
            return Err(Error::BadManifest(format!("\"{module}\" cannot be a module's name")));
        }
        let wasm = match &names.wasm {
            Some(file) => file.clone(),
            None => Path::new(BUILD_FOLDER).join(format!("{module}.{MODULE}")),
        };
        let wasm = std::path::absolute(wasm).map_err(Error::NoCwd)?;
        self.compile(&source, &wasm).await?;
        Ok(BuiltModule { source, wasm, module, display_name: names.name.clone() })
    }

    async fn compile(&self, source: &Path, wasm: &Path) -> Result<(), Error> {
        let failed = |why: String| Error::Compiler { source_file: source.to_owned(), why };
        let program = self.compiler_bin.to_string_lossy();
        print_stderr(format_args!("compiling {} with {}", one_line(&source.to_string_lossy()), one_line(&program)));
        if let Some(folder) = wasm.parent() {
            let made = tokio::fs::create_dir_all(folder).await;
            made.map_err(|error| failed(format!("{} cannot be made: {error}", folder.display())))?;
        }
        let args = [OsStr::new("compile"), source.as_os_str(), OsStr::new("-o"), wasm.as_os_str()];
        let limit = Duration::from_secs(self.compile_timeout);
        let ended = compiler::run(&self.compiler_bin, &args, limit).await.and_then(CompilerOutput::checked);
        match ended {
            Err(why) => Err(failed(why)),
            Ok(_) if !wasm.is_file() => Err(failed(format!("{program} made no {}", wasm.display()))),
            Ok(_) => Ok(()),
        }
    }

    /// The version that the compiler prints, within this time.
    pub(crate) async fn compiler_version(program: &OsStr, limit: Duration) -> Result<String, String> {
        compiler::run(program, &[OsStr::new("--version")], limit).await.and_then(CompilerOutput::checked)
    }
}

impl BuiltModule {
    /// The manifest that declares it.
    pub(crate) fn manifest(&self, entry: &str, agent: &AgentFlags) -> Result<Map<String, Value>, Error> {
        let cwd = std::env::current_dir().map_err(Error::NoCwd)?;
        let mut metadata = json!({ "sourceFile": self.source, "module": self.module, "workspaceRoot": cwd });
        declare::put(&mut metadata, "displayName", self.display_name.as_ref());
        for (name, value) in agent.metadata(&self.module)? {
            metadata[name] = value;
        }
        let origin = json!({ "type": "local_wasm", "wasmPath": self.wasm, "entry": entry });
        Ok(declare::document(metadata, declare::spec(origin, true)))
    }
}

/// The absolute path of something that is there.
fn existing(path: &Path) -> Result<PathBuf, Error> {
    let unreadable = |error| Error::BadManifest(format!("{} cannot be read: {error}", path.display()));
    path.metadata().map_err(unreadable)?;
    std::path::absolute(path).map_err(Error::NoCwd)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn append(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        modules: LocalModules,
    }

    fn sources(dir: &TempDir, recursive: bool) -> Result<Vec<String>, Error> {
        let line = ["x", dir.path().to_str().unwrap(), if recursive { "--recursive" } else { "--entry=mcp_main" }];
        let all = <Line as clap::Parser>::parse_from(line).modules;
        let below = |path: PathBuf| path.strip_prefix(dir.path()).unwrap().display().to_string();
        Ok(all.sources()?.into_iter().map(below).collect())
    }

    #[test]
    fn the_sources_of_a_folder_are_found_and_twins_refused() {
        let dir = TempDir::new().unwrap();
        for file in
            ["b.clarity", "a.clarity", "a.txt", "below/c.clarity", "node_modules/d.clarity", ".clarity/e.clarity"]
        {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "module X").unwrap();
        }
        assert_eq!(sources(&dir, false).unwrap(), ["a.clarity", "b.clarity"]);
        assert_eq!(sources(&dir, true).unwrap(), ["a.clarity", "b.clarity", "below/c.clarity"]);
        fs::write(dir.path().join("below/a.clarity"), "module X").unwrap();
        let refused = sources(&dir, true).unwrap_err().to_string();
        assert!(refused.contains("--module"), "{refused}");
    }
}
