//! Where a runtime's shell may stand: some runtimes keep one shell for all their calls, so a `cd` lasts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use roost_policy::FolderEffect;

/// More possible folders than these are as good as none.
const MOST: usize = 32;

/// The folders that a shell may stand in. Whether a `cd` succeeded is not known, so all of them count.
#[derive(Clone, Debug)]
pub(crate) struct ShellFolders {
    /// Where it begins, and where a runtime puts it back to.
    start: PathBuf,
    /// `None` after a line that nobody can follow.
    possible: Option<BTreeSet<PathBuf>>,
    /// What the newest call does; it counts for those after it, because a call is judged from where it begins.
    newest: FolderEffect,
}

impl ShellFolders {
    /// A shell that was just started.
    pub(crate) fn new(start: PathBuf) -> Self {
        Self { possible: Some(BTreeSet::from([start.clone()])), start, newest: FolderEffect::Stays }
    }

    /// The folders, if they are known.
    pub(crate) fn known(&self) -> Option<impl Iterator<Item = &PathBuf>> {
        self.possible.as_ref().map(BTreeSet::iter)
    }

    /// A call with this effect is requested.
    pub(crate) async fn follow(&mut self, next: FolderEffect) {
        let effect = &std::mem::replace(&mut self.newest, next);
        let leads_back = match effect {
            FolderEffect::MayGo { folders, begins_with_it: true } => match folders.first().map(Path::new) {
                Some(first) if first.is_absolute() => {
                    tokio::fs::metadata(first).await.is_ok_and(|first| first.is_dir())
                }
                _ => false,
            },
            _ => false,
        };
        self.apply(effect, leads_back);
    }

    /// With `leads_back`, the line begins by going to a folder that is there, wherever the shell was before.
    fn apply(&mut self, effect: &FolderEffect, leads_back: bool) {
        let folders = match effect {
            FolderEffect::Stays => return,
            FolderEffect::Unknown => {
                self.possible = None;
                return;
            }
            FolderEffect::MayGo { folders, .. } => folders,
        };
        if leads_back {
            self.possible = Some(BTreeSet::from([self.start.clone()]));
        }
        let Some(possible) = &mut self.possible else { return };
        for folder in folders {
            let further: Vec<_> = possible.iter().map(|from| from.join(folder)).collect();
            possible.extend(further);
        }
        if possible.len() > MOST {
            self.possible = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(folders: &[&str]) -> FolderEffect {
        let folders = folders.iter().map(|folder| (*folder).to_owned()).collect();
        FolderEffect::MayGo { folders, begins_with_it: true }
    }

    async fn after(effects: &[FolderEffect]) -> Option<Vec<String>> {
        let mut folders = ShellFolders::new("/w".into());
        for effect in effects {
            folders.follow(effect.clone()).await;
        }
        folders.follow(FolderEffect::Stays).await;
        folders.known().map(|known| known.map(|folder| folder.display().to_string()).collect())
    }

    #[tokio::test]
    async fn a_shell_may_be_wherever_it_was_led() {
        let cases = [
            (vec![FolderEffect::Stays], Some(vec!["/w"])),
            (vec![go(&["a"])], Some(vec!["/w", "/w/a"])),
            (vec![go(&["a"]), go(&["b"])], Some(vec!["/w", "/w/a", "/w/a/b", "/w/b"])),
            (vec![FolderEffect::Unknown], None),
            (vec![FolderEffect::Unknown, go(&["a"])], None),
            // A line that begins with the full path of a folder leads back to where something is known.
            (vec![FolderEffect::Unknown, go(&["/"])], Some(vec!["/", "/w"])),
            (vec![FolderEffect::Unknown, go(&["/not/there"])], None),
        ];
        for (effects, expected) in cases {
            let expected = expected.map(|folders| folders.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(after(&effects).await, expected, "{effects:?}");
        }
    }

    #[tokio::test]
    async fn too_many_possible_folders_are_none() {
        let many: Vec<_> = (0..6).map(|at| go(&[&format!("f{at}")])).collect();
        assert_eq!(after(&many).await, None);
    }
}
