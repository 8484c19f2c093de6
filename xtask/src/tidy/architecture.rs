//! ARCHITECTURE.md shows a newcomer every crate.

use super::repo::Repo;

const DOCUMENT: &str = "ARCHITECTURE.md";

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let text = repo.file(DOCUMENT).map_or("", |file| &file.text);
    repo.packages
        .iter()
        .filter(|package| !mentions(text, &package.folder))
        .map(|package| format!("{DOCUMENT}: does not mention the folder {}", package.folder))
        .collect()
}

/// `crates/log` is not mentioned by `crates/logger` or `crates/log-nats`.
fn mentions(text: &str, folder: &str) -> bool {
    let continues = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
    text.match_indices(folder).any(|(at, _)| !continues(&text[at + folder.len()..]))
}

#[cfg(test)]
mod tests {
    use super::super::repo::Package;
    use super::*;

    #[test]
    fn a_crate_that_the_document_leaves_out_is_reported() {
        let mut repo = Repo::from_files(&[(DOCUMENT, "`crates/log` keeps, `crates/engine-room` does not")]);
        for folder in ["crates/log", "crates/engine"] {
            repo.packages.push(Package { folder: folder.into(), ..Package::default() });
        }
        assert_eq!(check(&repo), ["ARCHITECTURE.md: does not mention the folder crates/engine"]);
    }
}
