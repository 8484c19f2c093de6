//! A cgroup of its own for one run, where a cgroup v2 hierarchy is writable.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::RunId;

/// How the name of a run's cgroup begins.
pub(crate) const PREFIX: &str = "roost-";

/// The directory of one run's cgroup.
#[derive(Clone, Debug)]
pub(crate) struct Cgroup(PathBuf);

impl Cgroup {
    /// Makes the run's cgroup below our own, or answers `None` where that is not possible.
    pub(crate) fn create(run: &RunId) -> Option<Self> {
        let parent = own_directory(
            &fs::read_to_string("/proc/self/mountinfo").ok()?,
            &fs::read_to_string("/proc/self/cgroup").ok()?,
        )?;
        let path = parent.join(directory_name(run));
        fs::create_dir(&path).ok()?;
        Some(Self(path))
    }

    /// The cgroup at a recorded path, if it can be the one of this run.
    pub(crate) fn recorded(path: &Path, run: &RunId) -> Option<Self> {
        (path.file_name()? == directory_name(run).as_str()).then(|| Self(path.to_owned()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Moves a process in; what it forks from then on is born there.
    pub(crate) fn adopt(&self, pid: u32) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), pid.to_string())
    }

    /// All processes in it and in the cgroups below.
    #[cfg(target_os = "linux")]
    pub(crate) fn pids(&self) -> Vec<u32> {
        let mut pids = Vec::new();
        each_below(&self.0, &mut |path| {
            let procs = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
            pids.extend(procs.lines().filter_map(|line| line.parse::<u32>().ok()));
        });
        pids
    }

    /// Kills all of them at once, so that no fork can escape.
    pub(crate) fn kill(&self) {
        // Kernels before 5.14 do not have the file; the caller also kills one by one.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }

    /// Removes the empty cgroup; blocks for a moment while the kernel lets go of dying processes.
    pub(crate) fn remove(&self) {
        for _ in 0..20 {
            each_below(&self.0, &mut |path| _ = fs::remove_dir(path));
            if !self.0.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Whether runs get a cgroup of their own here; blocks for a moment, as it makes one to find out.
pub fn cgroup_available() -> bool {
    let made = Cgroup::create(&RunId::fresh());
    made.inspect(Cgroup::remove).is_some()
}

fn directory_name(run: &RunId) -> String {
    format!("{PREFIX}{run}")
}

/// Visits the deepest directories first, as only an empty cgroup can be removed.
fn each_below(path: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            each_below(&entry.path(), visit);
        }
    }
    visit(path);
}

/// Our own cgroup's directory, from the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn own_directory(mountinfo: &str, cgroup: &str) -> Option<PathBuf> {
    let own = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    mountinfo.lines().find_map(|line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        if !filesystem.starts_with("cgroup2 ") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
        // A path outside the mount's root (another cgroup namespace) has no directory here.
        let below = Path::new(own).strip_prefix(root).ok()?;
        let inside = !below.components().any(|part| part.as_os_str() == "..");
        inside.then(|| Path::new(&point).join(below))
    })
}

/// Mountinfo writes blanks and backslashes as three octal digits.
fn unescape(field: &str) -> String {
    let mut parts = field.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                text.push(byte.into());
                text.push_str(&part[3..]);
            }
            None => {
                text.push('\\');
                text.push_str(part);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_directory_is_found_from_mountinfo() {
        let table = [
            (
                "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
                "1:cpu:/\n0::/",
                Some("/sys/fs/cgroup/unified/"),
            ),
            (
                "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw",
                "0::/user.slice/a.scope",
                Some("/sys/fs/cgroup/user.slice/a.scope"),
            ),
            ("30 23 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup rw", "0::/docker/x/y", Some("/sys/fs/cgroup/y")),
            ("30 23 0:26 / /mnt/a\\040b rw - cgroup2 none rw", "0::/", Some("/mnt/a b/")),
            ("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "0::/../outside", None),
            ("32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", "0::/", None),
            ("", "", None),
        ];
        for (mountinfo, cgroup, expected) in table {
            assert_eq!(own_directory(mountinfo, cgroup).as_deref(), expected.map(Path::new), "{mountinfo}");
        }
    }
}
