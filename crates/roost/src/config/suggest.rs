//! What was probably meant by a name that is not known.

/// The name that needs the fewest changes to become the wrong one, if they are few.
pub(super) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| (distance(wrong, name), name)).min()?;
    (near.0 <= wrong.len().max(near.1.len()) / 2).then_some(near.1)
}

/// How many bytes to add, remove or replace to make one text the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_far_from_all_others_suggests_none() {
        assert_eq!(nearest("zzzz", ["max", "when_full"].into_iter()), None);
    }
}
