//! Makes a table of the files in `ui/dist`, so that the web app is in the binary. It only lists what is committed there;
//! nothing is built and nothing is downloaded.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    list(&dist, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files.iter().filter(|file| !is_compressed(file)) {
        let path = file.strip_prefix(&dist).map_err(io::Error::other)?;
        let mut hasher = DefaultHasher::new();
        fs::read(file)?.hash(&mut hasher);
        let brotli = PathBuf::from(format!("{}.br", file.display()));
        let brotli = if brotli.exists() { format!("Some(include_bytes!({brotli:?}))") } else { "None".into() };
        let (path, tag) = (format!("/{}", path.display()), format!("\"{:016x}\"", hasher.finish()));
        let row = format!(
            "    WebFile {{ path: {path:?}, etag: {tag:?}, bytes: include_bytes!({file:?}), brotli: {brotli} }},"
        );
        writeln!(table, "{row}").map_err(io::Error::other)?;
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("web_files.rs"), table)
}

fn is_compressed(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "br")
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { list(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
