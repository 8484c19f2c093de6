//! What we take from others: under licences that let us ship it, and each crate in one version.

use std::collections::BTreeMap;

use super::repo::{Repo, ThirdParty};

/// Licences under which everybody may ship what we build, with a notice at most.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates under another licence, each reviewed: only changes to their own files would have to be published.
const LOOKED_AT: &[(&str, &str)] = &[("nucleo-matcher", "MPL-2.0")];

/// Crates that come in several versions because others ask for them; the list only becomes shorter.
const SEVERAL: &[&str] = &[
    "base64",
    "bit-vec",
    "bitflags",
    "block-buffer",
    "cpufeatures",
    "crypto-common",
    "darling",
    "darling_core",
    "darling_macro",
    "defmt",
    "digest",
    "embedded-io",
    "getrandom",
    "hashbrown",
    "indexmap",
    "io-lifetimes",
    "miniz_oxide",
    "rand",
    "rand_chacha",
    "rand_core",
    "schemars",
    "sha2",
    "syn",
    "synstructure",
    "thiserror",
    "thiserror-impl",
    "tower-http",
    "toml",
    "toml_datetime",
    "vte",
    "winnow",
    "zstd",
    "zstd-safe",
];

const HERE: &str = "xtask/src/tidy/third_party.rs";

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let unfit = repo.third_party.iter().filter(|one| !is_fit(one)).map(|one| {
        let licence = one.licence.as_deref().unwrap_or("no licence");
        format!("Cargo.lock: {} {} is under {licence}, which {HERE} does not allow", one.name, one.version)
    });
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in &repo.third_party {
        versions.entry(&one.name).or_default().push(&one.version);
    }
    let doubled = versions.iter().filter(|(name, versions)| versions.len() > 1 && !SEVERAL.contains(name));
    let doubled = doubled.map(|(name, versions)| {
        format!("Cargo.lock: {name} comes in versions {}; agree on one, or say why in {HERE}", versions.join(" and "))
    });
    let is_single = |name: &&&str| versions.get(**name).is_some_and(|versions| versions.len() == 1);
    let single = SEVERAL.iter().filter(is_single).map(|name| format!("{HERE}: {name} comes in one version; unlist it"));
    unfit.chain(doubled).chain(single).collect()
}

fn is_fit(one: &ThirdParty) -> bool {
    let Some(licence) = one.licence.as_deref() else { return false };
    LOOKED_AT.contains(&(&one.name, licence)) || is_allowed(licence)
}

/// Whether an SPDX expression leaves us a choice of allowed licences only; old manifests write `/` for `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let (allowed, rest) = any(&words);
    allowed && rest.is_empty()
}

fn any<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    let (mut allowed, mut rest) = all(words);
    while let ["OR", more @ ..] = rest {
        let next = all(more);
        (allowed, rest) = (allowed || next.0, next.1);
    }
    (allowed, rest)
}

fn all<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    let (mut allowed, mut rest) = one(words);
    while let ["AND", more @ ..] = rest {
        let next = one(more);
        (allowed, rest) = (allowed && next.0, next.1);
    }
    (allowed, rest)
}

fn one<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    match words {
        ["(", inner @ ..] => match any(inner) {
            (allowed, [")", rest @ ..]) => (allowed, rest),
            (_, rest) => (false, rest),
        },
        // An exception only gives more leave.
        [licence, "WITH", _, rest @ ..] | [licence, rest @ ..] => (LICENCES.contains(licence), rest),
        [] => (false, words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_allowed_if_some_choice_of_it_is() {
        for (expression, expected) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 / MIT", true),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only AND MIT", false),
            ("MIT OR GPL-3.0-only AND ISC", true),
            ("(MIT OR GPL-3.0-only) AND Unicode-3.0", true),
            ("(MIT OR Apache-2.0) AND GPL-3.0-only", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", true),
            ("(MIT", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(expression), expected, "{expression}");
        }
    }

    #[test]
    fn other_licences_and_second_versions_are_reported() {
        let crates = [("a", "1.0.0", Some("MIT")), ("a", "2.0.0", Some("MIT")), ("b", "1.0.0", None)];
        let third_party = crates.map(|(name, version, licence)| ThirdParty {
            name: name.into(),
            version: version.into(),
            licence: licence.map(Into::into),
        });
        let repo = Repo { third_party: third_party.into(), ..Repo::default() };
        assert_eq!(
            check(&repo),
            [
                "Cargo.lock: b 1.0.0 is under no licence, which xtask/src/tidy/third_party.rs does not allow",
                "Cargo.lock: a comes in versions 1.0.0 and 2.0.0; agree on one, or say why in \
                 xtask/src/tidy/third_party.rs",
            ]
        );
    }
}
