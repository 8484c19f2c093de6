//! Decides which folders can become workspaces, and for whom.
//!
//! No folder that contains Roost's own state or configuration, or lies in it, can be one, nor can the kernel's folders:
//! whoever writes there controls the daemon or the machine. Devices stay beneath `workspaces.roots`, outside of hidden
//! folders. The user at the machine and an admin's device may add any other folder.

use std::io;
use std::path::{Component, Path, PathBuf};

use roost_rpc::{Fault, FaultCode, Scope};

use crate::caller::Caller;

/// Pseudo file systems of the kernel: whoever writes there changes the machine.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Which folders a caller may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only folders beneath `workspaces.roots`, outside of hidden ones.
    Roots,
    /// Every folder except those that are private to Roost or the kernel.
    Anywhere,
}

impl Reach {
    /// Admins, at the machine or on a device, reach anywhere; every other device stays beneath the roots.
    pub(crate) fn for_caller(caller: &Caller) -> Self {
        if caller.scope >= Scope::Admin { Self::Anywhere } else { Self::Roots }
    }
}

/// The folders that devices may use, and those that nobody may.
pub(crate) struct FolderPolicy {
    /// `workspaces.roots`: devices may add workspaces beneath these.
    roots: Vec<PathBuf>,
    /// Folders that can never be a workspace, with links resolved, and what each is for the refusal.
    private: Vec<(PathBuf, &'static str)>,
}

impl FolderPolicy {
    /// The policy for these roots; `own` are Roost's folders, each with its description.
    pub(crate) async fn new(roots: Vec<PathBuf>, own: Vec<(PathBuf, &'static str)>) -> Self {
        let mut private: Vec<_> = KERNEL.iter().map(|folder| (folder.into(), "the kernel's own folder")).collect();
        for (folder, what) in own {
            private.push((resolved(&folder).await.unwrap_or(folder), what));
        }
        Self { roots, private }
    }

    /// Resolves the folder's links and checks that it may become a workspace within this reach.
    pub(crate) async fn admit(&self, path: &Path, reach: Reach) -> Result<PathBuf, Fault> {
        let bad = |why: &dyn std::fmt::Display| Fault::params(format_args!("{}: {why}", path.display()));
        if !path.is_absolute() {
            return Err(bad(&"the path is not absolute").with("path", path));
        }
        let real = resolved(path).await.map_err(|error| bad(&error).with("path", path))?;
        self.check(&real)?;
        if reach == Reach::Roots {
            self.check_device(&real).await?;
        }
        Ok(real)
    }

    /// Refuses a folder that can never be a workspace. The path must have its links resolved.
    pub(crate) fn check(&self, real: &Path) -> Result<(), Fault> {
        let refuse = |how: &str, what: &str| {
            let why = format_args!(
                "{} {how} {what}, so it cannot be a workspace: an agent there could read Roost's secrets or change the \
                 machine under it; choose a project's folder",
                real.display()
            );
            Err(Fault::params(why).with("path", real))
        };
        for (private, what) in &self.private {
            if real.starts_with(private) {
                return refuse("lies in", what);
            }
            if private.starts_with(real) {
                return refuse("contains", what);
            }
        }
        Ok(())
    }

    async fn check_device(&self, real: &Path) -> Result<(), Fault> {
        let mut named = Vec::new();
        for root in &self.roots {
            let Ok(root) = resolved(root).await else { continue };
            match real.strip_prefix(&root) {
                Ok(below) if !below.components().any(is_hidden) => return Ok(()),
                _ => named.push(root.display().to_string()),
            }
        }
        let roots = if named.is_empty() { "none is set".to_owned() } else { named.join(", ") };
        let why = format_args!(
            "{} is not beneath a folder in which devices may add workspaces ({roots}; hidden folders are left out). Add \
             it at the machine with `roost workspaces add`, by a device with the scope admin, or name a folder above it \
             in workspaces.roots of roost.toml",
            real.display()
        );
        Err(Fault::new(FaultCode::Forbidden, why).with("path", real).with("field", "path").with("needs", Scope::Admin))
    }
}

fn is_hidden(part: Component<'_>) -> bool {
    part.as_os_str().as_encoded_bytes().starts_with(b".")
}

/// Resolves the links of a path. Parts at its end that do not exist are kept as they are; a dangling link is an error.
pub(crate) async fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut above = path;
    loop {
        match tokio::fs::canonicalize(above).await {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |real, name| real.join(name))),
            // A link that leads nowhere could lead anywhere later.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && tokio::fs::symlink_metadata(above).await.is_err() =>
            {
                let Some(name) = above.file_name() else { return Err(error) };
                missing.push(name);
                above = above.parent().ok_or(error)?;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[tokio::test]
    async fn nobody_has_roosts_own_folders_or_the_kernels_and_devices_stay_beneath_the_roots() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap().join("home");
        let state = home.join(".local/state/roost");
        fs::create_dir_all(&state).unwrap();
        for folder in ["code/app", "code/.hidden/x", ".config/nvim"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let elsewhere = place.path().canonicalize().unwrap().join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        symlink(&state, home.join("code/to-state")).unwrap();
        symlink(&elsewhere, home.join("code/out")).unwrap();
        symlink(home.join("nowhere"), home.join("code/dangling")).unwrap();
        let policy = FolderPolicy::new(vec![home.clone()], vec![(state.clone(), "Roost's state directory")]).await;
        // Who may: 0 nobody, 1 an admin's device and the machine, 2 every device.
        let table = [
            (home.join("code/app"), 2),
            (home.join("code/new/one"), 2),
            (home.join("code"), 2),
            (home.clone(), 0),
            (state.clone(), 0),
            (state.join("namespaces/x"), 0),
            (home.join(".local"), 0),
            (home.join("code/to-state"), 0),
            (home.join("code/to-state/artifacts"), 0),
            (home.join("code/app/../../.local/state"), 0),
            (home.join("code/dangling"), 0),
            (home.join("code/app/new/../../../.ssh"), 0),
            ("/".into(), 0),
            ("/proc/self/cwd".into(), 1),
            ("/proc/sys".into(), 0),
            ("/dev".into(), 0),
            ("/sys/kernel".into(), 0),
            ("relative".into(), 0),
            ("/etc".into(), 1),
            (elsewhere.clone(), 1),
            (home.join("code/out"), 1),
            (home.join(".config/nvim"), 1),
            (home.join("code/.hidden/x"), 1),
        ];
        for (path, who) in table {
            let may = async |reach| policy.admit(&path, reach).await.is_ok();
            let found = (may(Reach::Anywhere).await, may(Reach::Roots).await);
            assert_eq!(found, (who >= 1, who >= 2), "{}", path.display());
        }
    }
}
