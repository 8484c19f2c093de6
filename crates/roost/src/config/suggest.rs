//! Suggests the known name that an unknown one was probably meant to be.

/// The name that needs the fewest changes to become the wrong one, if they are few.
pub(super) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| (strsim::levenshtein(wrong, name), name)).min()?;
    (near.0 <= wrong.len().max(near.1.len()) / 2).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_far_from_all_others_suggests_none() {
        assert_eq!(nearest("zzzz", ["max", "when_full"].into_iter()), None);
    }
}
