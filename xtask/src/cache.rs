//! Where builds and downloads live: outside the checkout, so that every clone shares them.

use std::env;
use std::path::{Path, PathBuf};

use crate::Result;

/// The project's cache folder, `~/.cache/roost` unless XDG says otherwise.
pub(crate) struct Cache {
    home: PathBuf,
    target: PathBuf,
}

impl Cache {
    /// Finds the cache from the environment; a relative `CARGO_TARGET_DIR` is taken from `root`, as cargo does there.
    pub(crate) fn from_env(root: &Path) -> Result<Self> {
        let home = cache_home(env::var_os("XDG_CACHE_HOME").map(PathBuf::from), env::home_dir())
            .ok_or("no cache folder: set HOME or XDG_CACHE_HOME to an absolute path")?
            .join("roost");
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(chosen) => root.join(chosen),
            None => home.join("target"),
        };
        Ok(Self { home, target })
    }

    /// The target directory of every cargo that xtask starts for this workspace.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// A folder of the cache with its own purpose.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }
}

/// XDG asks that a relative value be ignored.
fn cache_home(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    xdg.filter(|path| path.is_absolute())
        .or_else(|| home.filter(|path| path.is_absolute()).map(|path| path.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_follows_xdg_and_falls_back_to_home() {
        let path = |text: &str| Some(PathBuf::from(text));
        for (xdg, home, expected) in [
            (path("/x"), path("/h"), path("/x")),
            (path("relative"), path("/h"), path("/h/.cache")),
            (path(""), path("/h"), path("/h/.cache")),
            (None, path("/h"), path("/h/.cache")),
            (None, path(""), None),
            (None, None, None),
        ] {
            assert_eq!(cache_home(xdg.clone(), home.clone()), expected, "{xdg:?} {home:?}");
        }
    }
}
