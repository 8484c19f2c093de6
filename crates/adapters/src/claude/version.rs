//! The oldest version of the CLI that can be used.

/// The first major version whose control protocol Roost speaks.
const OLDEST: u32 = 2;

/// The advice for a version that is too old; `None` if it is recent enough or cannot be read.
pub(super) fn too_old(version: &str) -> Option<String> {
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major < OLDEST).then(|| {
        format!("Claude Code {version} is too old, Roost needs {OLDEST}.0 or later; update it with `claude update`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_before_the_second_is_too_old() {
        for (version, expected) in [("1.0.128", true), ("2.0.0", false), ("2.1.197", false), ("10.0.0", false)] {
            assert_eq!(too_old(version).is_some(), expected, "{version}");
        }
    }
}
