//! The prompts that were sent in a folder, for the arrow keys and Ctrl-R.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::paths::StateDir;
use crate::typed::clean;

/// The greatest number of prompts that are offered again.
const MAX_PROMPTS: usize = 500;
/// Longer prompts are not kept, in bytes: a pasted file is not typed again.
const MAX_PROMPT: usize = 16 << 10;
/// A longer file is cut to the prompts that are offered, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The history of one folder: a file in the state directory, one prompt per line as a JSON string.
#[derive(Clone, Debug)]
pub(crate) struct PromptHistory {
    file: PathBuf,
}

impl PromptHistory {
    /// The history of prompts that are sent to sessions in this folder.
    pub(crate) fn new(state: &StateDir, cwd: &Path) -> Self {
        let name = Sha256::digest(cwd.as_os_str().as_encoded_bytes());
        let name: String = name.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { file: state.history().join(name).with_extension("jsonl") }
    }

    /// The latest prompts, the oldest first; none if there is no history or it cannot be read.
    pub(crate) fn load(&self) -> Vec<String> {
        let Ok(file) = File::open(&self.file) else { return Vec::new() };
        let prompts = BufReader::new(file).lines().map_while(Result::ok);
        let prompts: Vec<_> = prompts.filter_map(|line| serde_json::from_str::<String>(&line).ok()).collect();
        let skipped = prompts.len().saturating_sub(MAX_PROMPTS);
        prompts.into_iter().skip(skipped).map(|prompt| clean(&prompt)).collect()
    }

    /// Keeps a prompt, readable by its user only.
    pub(crate) fn add(&self, prompt: &str) -> io::Result<()> {
        if prompt.len() > MAX_PROMPT || self.load().last().is_some_and(|last| last == prompt) {
            return Ok(());
        }
        let folder = self.file.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.file)?;
        writeln!(file, "{}", serde_json::to_string(prompt)?)?;
        if file.metadata()?.len() > MAX_FILE {
            self.shorten(folder)?;
        }
        Ok(())
    }

    /// Replaces the file by one with the prompts that are offered.
    fn shorten(&self, folder: &Path) -> io::Result<()> {
        // Such files can be read by their user only.
        let mut shorter = tempfile::NamedTempFile::new_in(folder)?;
        let prompts = self.load();
        // Half of what may be there, so that this is not due again at once.
        let (mut kept, mut size) = (prompts.len(), 0);
        while kept > 0 && size + prompts[kept - 1].len() as u64 * 2 < MAX_FILE / 2 {
            kept -= 1;
            size += prompts[kept].len() as u64 * 2;
        }
        for prompt in &prompts[kept..] {
            writeln!(shorter, "{}", serde_json::to_string(prompt)?)?;
        }
        shorter.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn history(state: &Path, cwd: &str) -> PromptHistory {
        PromptHistory::new(&StateDir::choose(Some(state.into())).unwrap(), Path::new(cwd))
    }

    #[test]
    fn a_folder_has_its_own_history_that_only_its_user_reads() {
        let state = tempfile::tempdir().unwrap();
        let (here, there) = (history(state.path(), "/here"), history(state.path(), "/there"));
        for prompt in ["one", "two\nlines", "two\nlines"] {
            here.add(prompt).unwrap();
        }
        assert_eq!((here.load(), there.load()), (vec!["one".into(), "two\nlines".into()], vec![]));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&here.file), mode(here.file.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn a_history_stays_small() {
        let state = tempfile::tempdir().unwrap();
        let history = history(state.path(), "/here");
        history.add(&"x".repeat(MAX_PROMPT + 1)).unwrap();
        assert_eq!(history.load(), [""; 0]);
        for number in 0..100 {
            history.add(&format!("{number}{}", "x".repeat(MAX_PROMPT - 10))).unwrap();
        }
        assert!(fs::metadata(&history.file).unwrap().len() <= MAX_FILE);
        assert!(history.load().last().unwrap().starts_with("99x"));
    }

    #[test]
    fn a_damaged_line_is_passed_over() {
        let state = tempfile::tempdir().unwrap();
        let history = history(state.path(), "/here");
        history.add("one").unwrap();
        fs::write(&history.file, "\"one\"\nnot JSON\n\"esc\\u001b[A\"\n").unwrap();
        assert_eq!(history.load(), ["one", "esc"]);
    }
}
