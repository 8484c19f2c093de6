//! Tracks the current folder of a runtime's shell. Some runtimes keep one shell for all their calls, so a `cd` lasts.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use roost_model::ids::ToolCallId;
use roost_policy::FolderEffect;

/// With more possible folders than this, the shell's folder counts as unknown.
const MOST: usize = 32;

/// The possible current folders of a shell. Whether a `cd` succeeded is usually not known, so each of them counts.
#[derive(Clone, Debug)]
pub(crate) struct ShellFolders {
    /// Where the shell starts, and where a runtime may put it back to.
    start: PathBuf,
    /// `None` after a line whose effect is unknown.
    possible: Option<BTreeSet<PathBuf>>,
    /// The newest call and its effect, which counts only for the calls after it: a call is judged from where it begins.
    newest: Option<(ToolCallId, FolderEffect)>,
    /// The running calls that may change the folder.
    open: HashMap<ToolCallId, FolderEffect>,
}

impl ShellFolders {
    /// A shell that was just started in this folder.
    pub(crate) fn new(start: PathBuf) -> Self {
        let possible = Some(BTreeSet::from([start.clone()]));
        Self { possible, start, newest: None, open: HashMap::new() }
    }

    /// The possible folders; `None` if the shell could be anywhere.
    pub(crate) fn known(&self) -> Option<impl Iterator<Item = &PathBuf>> {
        self.possible.as_ref().map(BTreeSet::iter)
    }

    /// Records a requested call. Its effect counts whether or not it will be allowed and succeed.
    pub(crate) fn requested(&mut self, call: &ToolCallId, effect: FolderEffect) {
        let next = (call.clone(), effect.clone());
        // A call that is announced and then asked about is one call.
        if self.newest.as_ref() == Some(&next) {
            return;
        }
        if let Some((_, before)) = self.newest.replace(next) {
            self.add(&before);
        }
        if effect != FolderEffect::Stays {
            self.open.insert(call.clone(), effect);
        }
    }

    /// Records the end of a call. If it succeeded, went to an absolute path for certain and no other call ran beside
    /// it, the shell can only be there or back at its start.
    pub(crate) fn ended(&mut self, call: &ToolCallId, succeeded: bool) {
        let Some(effect) = self.open.remove(call) else { return };
        if let FolderEffect::MayGo { certainly: true, .. } = effect
            && succeeded
            && self.open.is_empty()
        {
            self.newest = None;
            self.possible = Some(BTreeSet::from([self.start.clone()]));
            self.add(&effect);
        }
    }

    fn add(&mut self, effect: &FolderEffect) {
        let folders = match effect {
            FolderEffect::Stays => return,
            FolderEffect::Unknown => {
                self.possible = None;
                return;
            }
            FolderEffect::MayGo { folders, .. } => folders,
        };
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

    fn go(folder: &str) -> FolderEffect {
        FolderEffect::MayGo { folders: vec![folder.to_owned()], certainly: folder.starts_with('/') }
    }

    /// Where the shell may be after calls with these effects, each of which ended well or not.
    fn after(calls: &[(FolderEffect, bool)]) -> Option<Vec<String>> {
        let mut folders = ShellFolders::new("/w".into());
        for (at, (effect, succeeded)) in calls.iter().enumerate() {
            let call = ToolCallId::from(at.to_string());
            folders.requested(&call, effect.clone());
            folders.ended(&call, *succeeded);
        }
        folders.requested(&"last".into(), FolderEffect::Stays);
        folders.known().map(|known| known.map(|folder| folder.display().to_string()).collect())
    }

    #[test]
    fn a_shell_may_be_wherever_it_was_led() {
        use FolderEffect::{Stays, Unknown};
        let cases = [
            (vec![(Stays, true)], Some(vec!["/w"])),
            (vec![(go("a"), true)], Some(vec!["/w", "/w/a"])),
            (vec![(go("a"), false), (go("b"), true)], Some(vec!["/w", "/w/a", "/w/a/b", "/w/b"])),
            (vec![(Unknown, true)], None),
            (vec![(Unknown, true), (go("a"), true)], None),
            // Only a call that succeeded leads back to where something is known.
            (vec![(Unknown, true), (go("/x"), true)], Some(vec!["/w", "/x"])),
            (vec![(Unknown, true), (go("/x"), false)], None),
            (vec![(go("evil"), true), (go("/w"), false)], Some(vec!["/w", "/w/evil"])),
            (vec![(go("evil"), true), (go("/w"), true)], Some(vec!["/w"])),
        ];
        for (calls, expected) in cases {
            let expected = expected.map(|folders| folders.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(after(&calls), expected, "{calls:?}");
        }
    }

    #[test]
    fn a_call_beside_another_leads_nowhere_for_certain() {
        let mut folders = ShellFolders::new("/w".into());
        folders.requested(&"a".into(), go("evil"));
        folders.requested(&"b".into(), go("/x"));
        folders.ended(&"b".into(), true);
        folders.requested(&"c".into(), FolderEffect::Stays);
        let known: Vec<_> = folders.known().unwrap().map(|folder| folder.display().to_string()).collect();
        assert_eq!(known, ["/w", "/w/evil", "/x"]);
    }

    #[test]
    fn too_many_possible_folders_are_none() {
        let many: Vec<_> = (0..6).map(|at| (go(&format!("f{at}")), true)).collect();
        assert_eq!(after(&many), None);
    }
}
