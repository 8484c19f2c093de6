//! The stash: lists, adds, applies and drops its entries.

use super::call::Call;
use super::run::Git;
use super::{GitKind, Merged};
use crate::Error;

/// An entry of the stash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stash {
    /// Its position; the latest is 0.
    pub index: usize,
    /// Its name, such as `stash@{0}`.
    pub name: String,
    /// The branch on which it was stashed; empty with a detached head.
    pub branch: String,
    /// Its message; that of git if none was given.
    pub message: String,
}

/// What to do with an entry of the stash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StashDo {
    /// Applies the entry and keeps it.
    Apply,
    /// Applies the entry and drops it; with conflicts it is kept.
    Pop,
    /// Drops the entry without applying it.
    Drop,
}

impl Git {
    /// Stashes the changes and returns the new entry; an error if there is nothing to stash.
    pub async fn stash(&self, message: Option<&str>, include_untracked: bool) -> Result<Stash, Error> {
        self.check_toplevel("stash").await?;
        let message = message.map(|message| format!("--message={message}"));
        let call =
            Call::write("stash").args(["stash", "push"]).args(message).flag(include_untracked, "--include-untracked");
        let output = self.run(call).await?;
        // git calls it a success to have put nothing aside.
        let is_nothing = GitKind::classify(&output.message()) == GitKind::Nothing;
        match self.stashes().await?.into_iter().next() {
            Some(stash) if output.success && !is_nothing => Ok(stash),
            _ => Err(output.failure("stash")),
        }
    }

    /// The entries of the stash, the latest first.
    pub async fn stashes(&self) -> Result<Vec<Stash>, Error> {
        let call = Call::read("stash/list").args(["stash", "list", "-z", "--format=%gs"]);
        let (answer, ()) = tokio::try_join!(self.answer(call), self.check_toplevel("stash/list"))?;
        let lines = answer.split(|&byte| byte == 0).filter(|line| !line.is_empty());
        Ok(lines.enumerate().map(|(index, line)| stash(index, &String::from_utf8_lossy(line))).collect())
    }

    /// Applies or drops an entry of the stash.
    pub async fn stash_do(&self, what: StashDo, index: usize) -> Result<Merged, Error> {
        let (operation, word) = match what {
            StashDo::Apply => ("stash/apply", "apply"),
            StashDo::Pop => ("stash/pop", "pop"),
            StashDo::Drop => ("stash/drop", "drop"),
        };
        self.check_toplevel(operation).await?;
        let name = format!("stash@{{{index}}}");
        let output = self.run(Call::write(operation).args(["stash", word, &name])).await?;
        self.merged(operation, output).await
    }
}

/// Parses a line of the stash's reflog: `WIP on BRANCH: …` or `On BRANCH: MESSAGE`.
fn stash(index: usize, line: &str) -> Stash {
    let rest = line.strip_prefix("WIP on ").or_else(|| line.strip_prefix("On ")).unwrap_or(line);
    let (branch, message) = rest.split_once(": ").unwrap_or(("", rest));
    let branch = if branch == "(no branch)" { "" } else { branch };
    Stash { index, name: format!("stash@{{{index}}}"), branch: branch.to_owned(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_told_from_the_branch() {
        let cases = [
            ("WIP on main: 12ab fix: it", "main", "12ab fix: it"),
            ("On a/b: later: maybe", "a/b", "later: maybe"),
            ("WIP on (no branch): 12ab x", "", "12ab x"),
            ("custom", "", "custom"),
        ];
        for (line, branch, message) in cases {
            let found = stash(3, line);
            assert_eq!((found.branch.as_str(), found.message.as_str()), (branch, message), "{line}");
        }
    }
}
