//! The REST routes: each stands for a method of the table.

use super::table::{Cost, Method};

/// How a route is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// With its parameters in the query.
    Get,
    /// With its parameters in the body.
    Post,
    /// With its parameters in the query.
    Delete,
}

impl Verb {
    /// As HTTP writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// A REST route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// How it is asked.
    pub verb: Verb,
    /// Where it is.
    pub path: String,
    /// The method that it stands for.
    pub method: Method,
}

impl Method {
    /// The routes that stand for it.
    pub fn routes(self) -> Vec<Route> {
        let name = self.name();
        let verb = match self.cost() {
            Cost::Read => Verb::Get,
            _ if self == Self::SessionDelete => Verb::Delete,
            _ => Verb::Post,
        };
        // Older clients know every agent by the name of the first.
        let of_agents = |rest: &str| vec![format!("/api/claude/{rest}"), format!("/api/agent/{rest}")];
        let paths = match self {
            Self::StatusGet => vec!["/api/status".into()],
            Self::FileGet => vec!["/api/file".into()],
            Self::FileList => vec!["/api/files/list".into()],
            Self::SessionList | Self::SessionDelete => of_agents("sessions"),
            Self::SessionMessages => of_agents("sessions/messages"),
            Self::SessionElements => of_agents("sessions/elements"),
            Self::RepositoryIndexStatus
            | Self::RepositoryIndexRebuild
            | Self::RepositorySearch
            | Self::RepositoryFilesList
            | Self::RepositoryFilesTree
            | Self::RepositoryStats
            | Self::RepositoryGrep => vec![format!("/api/{name}")],
            _ if self.is_git() => vec![format!("/api/{name}")],
            _ => name.strip_prefix("agent/").map(of_agents).unwrap_or_default(),
        };
        paths.into_iter().map(|path| Route { verb, path, method: self }).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_routes_are_asked_alike() {
        let all: Vec<_> = Method::ALL.iter().flat_map(|method| method.routes()).collect();
        let different: HashSet<_> = all.iter().map(|route| (route.verb, &route.path)).collect();
        assert_eq!(different.len(), all.len());
    }
}
