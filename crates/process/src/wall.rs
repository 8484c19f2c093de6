//! The wall hides the state directory from a runtime: in a mount namespace of the runtime's own, the directory is empty
//! except for what the runtime needs.
//!
//! Decisions:
//! * Only the runtime is behind the wall. Its holder stays outside, because it writes records to the state directory.
//! * Root needs a mount namespace only, and everything works as before, except that what is mounted behind the wall is
//!   not visible outside.
//! * Anybody else needs a user namespace too, in which only their own id has a meaning. Setuid programs (`sudo`, `su`,
//!   `ping`) do not work there, files of root seem to be nobody's, and `ssh` refuses its own configuration for that. So
//!   it must be asked for ([`Raise::Always`]).
//! * It only hides files. A runtime that runs as root can get around it (`/proc/1/root`).

use std::path::{Path, PathBuf};

/// Whether a runtime may start without the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raise {
    /// The wall is raised if that needs no user namespace; otherwise the runtime starts without it.
    WhereFree,
    /// The wall is always raised; if that fails, the runtime does not start.
    Always,
}

/// Which directory is hidden from runtimes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wall {
    /// Whether a runtime may start without the wall.
    pub raise: Raise,
    /// The directory that is hidden, usually Roost's state directory.
    pub hidden: PathBuf,
    /// Paths in it that stay visible. A path that lies elsewhere, or does not exist when the runtime starts, is
    /// ignored.
    pub shown: Vec<PathBuf>,
}

impl Wall {
    /// The wall for one launch, which also keeps the launch's own paths visible.
    pub(crate) fn showing(&self, own: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut wall = self.clone();
        wall.shown.extend(own);
        wall
    }
}

#[cfg(target_os = "linux")]
mod system {
    #![allow(unsafe_code)]

    use std::{ffi::CStr, fs, io, os::fd::AsRawFd};

    use rustix::{
        fs::{Mode, OFlags},
        mount::{
            MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount,
            unmount,
        },
        process::{chdir, getegid, geteuid},
        thread::{UnshareFlags, unshare_unsafe},
    };

    use super::*;

    const FLAGS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);
    const OPTIONS: &CStr = c"mode=0700,size=1m";

    impl Wall {
        /// Puts the current process and everything that it starts behind the wall.
        ///
        /// For a process with a single thread, right before it becomes the runtime.
        pub(crate) fn raise(&self, cwd: &Path) -> io::Result<()> {
            match (self.build(), self.raise) {
                (Ok(()), _) => Ok(chdir(cwd)?),
                (Err(_), Raise::WhereFree) => Ok(()),
                (Err(error), Raise::Always) => Err(error),
            }
        }

        fn build(&self) -> io::Result<()> {
            let hidden = fs::canonicalize(&self.hidden)?;
            self.enter()?;
            // Nothing of ours is seen outside; what is mounted there later is still seen here.
            mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
            // Opened before they are hidden, and in this namespace, out of which nothing else can be mounted.
            let mut shown = Vec::new();
            for path in self.shown.iter().filter_map(|path| fs::canonicalize(path).ok()) {
                match path.strip_prefix(&hidden) {
                    Ok(place) if !place.as_os_str().is_empty() => {
                        let opened = rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                        shown.push((hidden.join(place), opened, path.is_dir()));
                    }
                    _ => {}
                }
            }
            // What holds another comes first, and then the other is there already.
            shown.sort_by(|(one, ..), (other, ..)| one.cmp(other));
            shown.dedup_by(|(inner, ..), (outer, ..)| inner.starts_with(outer));
            mount("roost", &hidden, "tmpfs", FLAGS, OPTIONS)?;
            let furnish = || {
                for (place, opened, is_folder) in &shown {
                    if *is_folder {
                        fs::create_dir_all(place)?;
                    } else {
                        place.parent().map_or(Ok(()), fs::create_dir_all)?;
                        fs::File::create(place)?;
                    }
                    mount_bind_recursive(format!("/proc/self/fd/{}", opened.as_raw_fd()), place)?;
                }
                Ok(mount_remount(&hidden, FLAGS | MountFlags::RDONLY, c"")?)
            };
            furnish().inspect_err(|_: &io::Error| {
                // Half a wall would keep the runtime from what it needs.
                let _ = unmount(&hidden, UnmountFlags::DETACH);
            })
        }

        fn enter(&self) -> io::Result<()> {
            let (user, group) = (geteuid(), getegid());
            // SAFETY: the table of descriptors is not unshared, which alone could be unsound.
            let unshare = |flags| unsafe { unshare_unsafe(flags) };
            if user.is_root() || self.raise == Raise::WhereFree {
                return Ok(unshare(UnshareFlags::NEWNS)?);
            }
            unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
            fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Wall {
    /// This system has no mount namespaces, so [`Raise::Always`] fails.
    pub(crate) fn raise(&self, _cwd: &Path) -> std::io::Result<()> {
        match self.raise {
            Raise::WhereFree => Ok(()),
            Raise::Always => Err(std::io::ErrorKind::Unsupported.into()),
        }
    }
}
