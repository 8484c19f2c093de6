//! Deletes compiled modules: only those in a build folder of ours.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Component, Path};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// The folder below a project in which modules are built.
const BUILD: [&str; 2] = [".clarity", "build"];
const MAGIC: &[u8] = b"\0asm";

/// Deletes a module if it is a file `.clarity/build/*.wasm` of a project below `root` that begins like a module; true if it
/// was. Links lead nowhere. Blocks on the disk.
pub(crate) fn remove(root: &Path, artifact: &Path) -> bool {
    let Ok(relative) = artifact.strip_prefix(root) else { return false };
    let parts: Vec<_> = relative.components().collect();
    let is_plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let [.., folder, build, file] = &parts[..] else { return false };
    let is_built = [folder.as_os_str(), build.as_os_str()] == BUILD.map(OsStr::new)
        && Path::new(file).extension() == Some(OsStr::new("wasm"));
    if !is_plain || !is_built {
        return false;
    }
    let Ok(root) = Dir::open_ambient_dir(root, ambient_authority()) else { return false };
    let is_file = root.symlink_metadata(relative).is_ok_and(|metadata| metadata.is_file());
    let mut start = [0; 4];
    let mut is_module =
        || root.open(relative).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC;
    is_file && is_module() && root.remove_file(relative).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn only_modules_in_build_folders_below_the_root_are_deleted() {
        let (root, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let build = root.path().join("app/.clarity/build");
        fs::create_dir_all(&build).unwrap();
        fs::create_dir_all(outside.path().join(".clarity/build")).unwrap();
        let write = |path: &Path| fs::write(path, b"\0asm\x01\0\0\0").unwrap();
        let theirs = outside.path().join(".clarity/build/theirs.wasm");
        write(&theirs);
        write(&root.path().join("app/main.wasm"));
        write(&build.join("notes.txt"));
        fs::write(build.join("text.wasm"), "no module").unwrap();
        std::os::unix::fs::symlink(&theirs, build.join("link.wasm")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("away")).unwrap();
        for kept in [
            theirs.clone(),
            root.path().join("app/main.wasm"),
            build.join("notes.txt"),
            build.join("text.wasm"),
            build.join("link.wasm"),
            root.path().join("away/.clarity/build/theirs.wasm"),
            build.join("../build/App.wasm"),
            build.join("nothing.wasm"),
        ] {
            assert!(!remove(root.path(), &kept), "{}", kept.display());
        }
        assert!(theirs.is_file());
        write(&build.join("App.wasm"));
        assert!(remove(root.path(), &build.join("App.wasm")));
        assert!(!build.join("App.wasm").exists());
    }
}
