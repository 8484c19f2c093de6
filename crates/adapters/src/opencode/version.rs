//! Which versions of OpenCode can be used.

/// What to do if OpenCode is not installed.
pub(super) const MISSING: &str = "install it with `npm install -g opencode-ai@latest`, or set its `command`";
/// The oldest version that Roost was tested with: the events and requests of the server change between versions.
const OLDEST: [u64; 2] = [1, 18];

/// What to do about a version that is too old; `None` if it is not. A version that is no number counts as new.
pub(super) fn too_old(version: &str) -> Option<String> {
    let numbers: Vec<u64> = version.split(['.', '-', '+']).map_while(|number| number.parse().ok()).collect();
    let [major, minor] = OLDEST;
    let is_old = !numbers.is_empty() && numbers.as_slice() < OLDEST.as_slice();
    is_old.then(|| {
        format!(
            "OpenCode {version} is too old: Roost needs {major}.{minor} or later; update it with `npm install -g \
             opencode-ai@latest`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_before_the_oldest_is_too_old() {
        for version in ["0.15.31", "1.17.99", "1", "1.2"] {
            assert!(too_old(version).is_some(), "{version}");
        }
        for version in ["1.18", "1.18.0", "1.18.33", "1.100.0-beta.1", "2.0.0", "local"] {
            assert!(too_old(version).is_none(), "{version}");
        }
    }
}
