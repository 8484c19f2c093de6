//! A file that nobody can hold in their head is split.

use super::repo::Repo;

const MAX_LINES: usize = 800;

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    repo.rust_files()
        .map(|file| (&file.path, file.text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("{path}: {lines} lines, split it below {MAX_LINES}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rust_files_over_the_limit_are_reported() {
        let (at, over) = ("\n".repeat(MAX_LINES), "\n".repeat(MAX_LINES + 1));
        let repo = Repo::from_files(&[("at.rs", &at), ("over.rs", &over), ("over.md", &over)]);
        assert_eq!(check(&repo), ["over.rs: 801 lines, split it below 800"]);
    }
}
