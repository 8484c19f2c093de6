//! The oldest version of the Gemini CLI that can be used.

/// The oldest version that Roost was tested with; earlier ones store their sessions in another way.
const OLDEST: [u32; 2] = [0, 61];

/// The advice for a version that is too old; `None` if it is recent enough or cannot be read.
pub(super) fn too_old(version: &str) -> Option<String> {
    let numbers: Vec<u32> = version.split(['.', '-']).map_while(|number| number.parse().ok()).collect();
    let [major, minor] = OLDEST;
    (numbers.len() >= 2 && numbers[..2] < OLDEST[..]).then(|| {
        format!(
            "Gemini CLI {version} is too old, Roost needs {major}.{minor} or later; install it with `npm install -g \
             @google/gemini-cli@latest`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_that_is_known_to_be_older_is_too_old() {
        let cases =
            [("0.60.9", true), ("0.9.0", true), ("0.61.0", false), ("0.61.0-nightly.1", false), ("1.0.0", false)];
        for (version, expected) in cases {
            assert_eq!(too_old(version).is_some(), expected, "{version}");
        }
        assert_eq!(too_old("nightly"), None);
    }
}
