//! The REST routes, each of which calls a method of the table.

use super::table::{Cost, Method};

/// The HTTP method of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Parameters are in the query.
    Get,
    /// Parameters are in the body.
    Post,
    /// Parameters are in the query or the body.
    Delete,
}

impl Verb {
    /// The HTTP method in capitals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// A REST route and the method that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The HTTP method.
    pub verb: Verb,
    /// The path, beginning with `/api/`; a part in braces is a parameter of this name.
    pub path: String,
    /// The method that it calls.
    pub method: Method,
}

impl Method {
    /// The routes that call this method; none for most methods. Reads are `GET`, everything else is `POST`.
    pub fn routes(self) -> Vec<Route> {
        let name = self.name();
        let verb = match self.cost() {
            Cost::Read => Verb::Get,
            _ if [Self::SessionDelete, Self::ServiceRemove, Self::SecretDelete, Self::BootstrapRemove]
                .contains(&self) =>
            {
                Verb::Delete
            }
            _ => Verb::Post,
        };
        // Older clients know every agent by the name of the first.
        let of_agents = |rest: &str| vec![format!("/api/claude/{rest}"), format!("/api/agent/{rest}")];
        let paths = match self {
            Self::StatusGet => vec!["/api/status".into()],
            Self::FileGet => vec!["/api/file".into()],
            Self::AuditList => vec!["/api/audit".into()],
            Self::ServiceList => vec!["/api/services".into()],
            Self::ServiceApply => vec!["/api/services/apply".into()],
            Self::ServiceGet | Self::ServiceRemove => vec!["/api/services/{service_id}".into()],
            _ if self.area() == "service" => {
                let rest = name.strip_prefix("service/").unwrap_or_default();
                vec![format!("/api/services/{{service_id}}/{rest}")]
            }
            Self::SecretList | Self::SecretSet | Self::SecretDelete => vec!["/api/security/auth/secrets".into()],
            Self::BootstrapApply | Self::BootstrapRemove => vec!["/api/bootstrap".into()],
            Self::BootstrapStatusGet => vec!["/api/bootstrap/status".into()],
            Self::SecretProviders => vec!["/api/security/auth/providers".into()],
            Self::SecretValidate => vec!["/api/security/auth/validate".into()],
            Self::RunList => vec!["/api/agents/runs".into()],
            Self::RunEvents => vec!["/api/agents/events".into(), "/api/agents/runs/{run_id}/events".into()],
            Self::RunMessage => vec!["/api/agents/runs/{run_id}/messages".into()],
            Self::RunReport => vec!["/api/agents/events".into()],
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
