//! The addresses under which clients see the resources of services.
//!
//! The address of an aggregated resource is the original behind a prefix that names the service, so it can be undone, and
//! so a template stays one. Clients treat `ui://` differently from everything else, so such an address keeps its scheme.

use crate::namespace::Namespace;

const PREFIX: &str = "roost://";
const UI: &str = "ui://";

/// The address of a service's resource, or template of addresses, as clients see it.
pub fn qualify(namespace: &Namespace, uri: &str) -> String {
    let namespace = namespace.as_str();
    match uri.strip_prefix(UI) {
        Some(rest) => format!("{UI}{namespace}/{rest}"),
        None => format!("{PREFIX}{namespace}/{uri}"),
    }
}

/// The namespace and the original address; `None` if the address is none of ours.
pub fn resolve(uri: &str) -> Option<(Namespace, String)> {
    let (rest, scheme) = match uri.strip_prefix(UI) {
        Some(rest) => (rest, UI),
        None => (uri.strip_prefix(PREFIX)?, ""),
    };
    let (name, original) = rest.split_once('/')?;
    let namespace = Namespace::from_text(name);
    (namespace.as_str() == name).then(|| (namespace, format!("{scheme}{original}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_name_their_service_and_can_be_undone() {
        let docs = Namespace::from_text("docs");
        for (original, seen) in [
            ("file:///a%20b?c#d", "roost://docs/file:///a%20b?c#d"),
            ("ui://widget/main.html", "ui://docs/widget/main.html"),
            ("note://{id}{?lang}", "roost://docs/note://{id}{?lang}"),
            ("plain", "roost://docs/plain"),
        ] {
            assert_eq!(qualify(&docs, original), seen);
            assert_eq!(resolve(seen), Some((docs.clone(), original.into())));
        }
    }

    #[test]
    fn other_addresses_are_not_ours() {
        for uri in ["file:///a", "roost://docs", "roost://DOCS/x", "roost:///x", "ui://", ""] {
            assert_eq!(resolve(uri), None, "{uri}");
        }
    }

    proptest! {
        #[test]
        fn every_address_can_be_undone(name in "[a-z0-9_]{1,12}", uri in ".{0,60}") {
            let namespace = Namespace::from_text(&name);
            prop_assert_eq!(resolve(&qualify(&namespace, &uri)), Some((namespace, uri)));
        }
    }
}
