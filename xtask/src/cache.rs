//! Where builds and downloads live: outside the checkout, so that every clone shares them.

use std::env;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::fixtures::locked_packages;

/// The project's cache folder, `~/.cache/roost` unless XDG says otherwise.
pub(crate) struct Cache {
    home: PathBuf,
    target: PathBuf,
}

impl Cache {
    /// Finds the cache from the environment; a relative `CARGO_TARGET_DIR` is taken from `root`, as cargo does there.
    pub(crate) fn from_env(root: &Path) -> Result<Self> {
        let home = locked_packages::cache_dir(env::var_os("XDG_CACHE_HOME").map(PathBuf::from), env::home_dir())
            .ok_or("no cache folder: set HOME or XDG_CACHE_HOME to an absolute path")?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(chosen) => root.join(chosen),
            None => home.join("target"),
        };
        Ok(Self { home, target })
    }

    /// `CARGO_TARGET_DIR` of every cargo command that xtask starts for this workspace.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The project's cache folder, which all clones share.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The path of a folder in the cache; nothing is created.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_follows_xdg_and_falls_back_to_home() {
        let path = |text: &str| Some(PathBuf::from(text));
        for (xdg, home, expected) in [
            (path("/x"), path("/h"), path("/x/roost")),
            (path("relative"), path("/h"), path("/h/.cache/roost")),
            (path(""), path("/h"), path("/h/.cache/roost")),
            (None, path("/h"), path("/h/.cache/roost")),
            (None, path(""), None),
            (None, None, None),
        ] {
            assert_eq!(locked_packages::cache_dir(xdg.clone(), home.clone()), expected, "{xdg:?} {home:?}");
        }
    }
}
