//! The names under which clients see the tools and prompts of services.

use roost_model::canonical;
use roost_model::service::NAMESPACE_SEPARATOR as SEPARATOR;
pub use roost_model::service::RESERVED_NAMESPACES as RESERVED;

/// The longest name that the clients of today take.
pub const MAX_NAME: usize = 64;
/// How many hex digits of the hash a shortened name ends in.
const HASH_DIGITS: usize = 8;

/// The prefix of a service's names: lower case letters, digits and `_` only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(String);

impl Namespace {
    /// The namespace that a text gives: each run of other characters becomes one `_`.
    pub fn from_text(text: &str) -> Self {
        let mut name = String::new();
        for c in text.trim().to_lowercase().chars() {
            match c {
                'a'..='z' | '0'..='9' | '_' => name.push(c),
                _ if name.ends_with(REPLACED) => {}
                _ => name.push(REPLACED),
            }
        }
        let name = name.replace(REPLACED, "_");
        match name.trim_matches('_') {
            "" => Self("service".into()),
            name => Self(name.into()),
        }
    }

    /// Whether only the gateway's own tools may have it.
    pub fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.0.as_str())
    }

    /// The namespace as it stands in names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name under which clients see a tool or prompt of the service: at most `max` bytes, the same every time.
    pub fn qualify(&self, name: &str, max: usize) -> String {
        let full = format!("{}{SEPARATOR}{name}", self.0);
        if full.len() <= max {
            return full;
        }
        let hash = canonical::hash_bytes(full.as_bytes());
        let digits = &hash[hash.len() - HASH_DIGITS..];
        let mut end = max.saturating_sub(HASH_DIGITS + 1);
        while !full.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}_{digits}", &full[..end])
    }
}

/// Stands for replaced characters until runs of them are one; no text has it after the replacement.
const REPLACED: char = '\u{0}';

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_namespace_has_plain_characters_only() {
        let cases = [
            ("everything", "everything"),
            (" My Service! ", "my_service"),
            ("a--b", "a_b"),
            ("a__b", "a__b"),
            ("Ünïcode", "n_code"),
            ("__x__", "x"),
            ("---", "service"),
            ("", "service"),
        ];
        for (text, expected) in cases {
            assert_eq!(Namespace::from_text(text).as_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_name_that_is_too_long_ends_in_its_hash() {
        let namespace = Namespace::from_text("docs");
        assert_eq!(namespace.qualify("search", MAX_NAME), "docs__search");
        let (one, other) = (namespace.qualify(&"x".repeat(60), MAX_NAME), namespace.qualify(&"x".repeat(61), MAX_NAME));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
        assert_eq!(one, namespace.qualify(&"x".repeat(60), MAX_NAME));
    }

    proptest! {
        #[test]
        fn every_text_gives_a_namespace_that_gives_itself(text in ".{0,40}") {
            let namespace = Namespace::from_text(&text);
            prop_assert_eq!(&Namespace::from_text(namespace.as_str()), &namespace);
            prop_assert!(namespace.as_str().chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')));
        }

        #[test]
        fn no_name_is_longer_than_clients_take(name in ".{0,100}", max in 16_usize..128) {
            prop_assert!(Namespace::from_text("docs").qualify(&name, max).len() <= max);
        }
    }
}
