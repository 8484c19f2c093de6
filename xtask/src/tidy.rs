//! `cargo xtask tidy`: the rules of the house that no compiler checks, one file per rule.

mod architecture;
mod doc_comments;
mod document_paths;
mod file_length;
mod layers;
mod leftovers;
mod lints;
mod machine_names;
mod orphans;
mod repo;
mod third_party;
mod type_names;
mod unused_dependencies;

use std::path::Path;

use crate::Result;
use repo::Repo;

type Check = fn(&Repo) -> Vec<String>;

const CHECKS: &[Check] = &[
    architecture::check,
    doc_comments::check,
    document_paths::check,
    file_length::check,
    layers::check,
    leftovers::check,
    lints::check,
    machine_names::check,
    orphans::check,
    third_party::check,
    type_names::check,
    unused_dependencies::check,
];

/// Runs every check and fails with all violations at once.
pub(crate) fn run(root: &Path) -> Result {
    let repo = Repo::read(root)?;
    let violations: Vec<String> = CHECKS.iter().flat_map(|check| check(&repo)).collect();
    if violations.is_empty() {
        println!("tidy: {} files, {} crates, nothing to report", repo.files.len(), repo.packages.len());
        return Ok(());
    }
    Err(format!("{}\ntidy: {} to fix", violations.join("\n"), violations.len()))
}
