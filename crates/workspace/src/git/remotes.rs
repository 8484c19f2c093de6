//! Lists, adds and removes remotes.

use std::collections::BTreeMap;

use super::call::Call;
use super::run::Git;
use super::{GitKind, Remote};
use crate::Error;

/// The hosting service of a remote, as far as its host name tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// The host is github.com.
    Github,
    /// The host is gitlab.com, or begins with `gitlab.`.
    Gitlab,
    /// The host is bitbucket.org.
    Bitbucket,
    /// Any other host, or this machine.
    Custom,
}

impl Provider {
    /// The value on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Bitbucket => "bitbucket",
            Self::Custom => "custom",
        }
    }

    fn from_url(url: &str) -> Self {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split('/').next().unwrap_or_default();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_lowercase();
        match host.split(':').next().unwrap_or_default() {
            "github.com" | "ssh.github.com" => Self::Github,
            "bitbucket.org" => Self::Bitbucket,
            host if host == "gitlab.com" || host.starts_with("gitlab.") => Self::Gitlab,
            _ => Self::Custom,
        }
    }
}

/// A remote of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteInfo {
    /// The name of the remote, such as `origin`.
    pub name: String,
    /// The URL to fetch from; a password in it is masked.
    pub fetch_url: String,
    /// The URL to push to; a password in it is masked.
    pub push_url: String,
    /// The hosting service, by the host of `fetch_url`.
    pub provider: Provider,
    /// Its branches, as of the last fetch.
    pub branches: Vec<String>,
}

impl Git {
    /// All remotes, with their URLs and branches.
    pub async fn remotes(&self) -> Result<Vec<RemoteInfo>, Error> {
        let refs = ["for-each-ref", "--format=%(refname:lstrip=2)%00%(symref)", "refs/remotes"];
        let (urls, refs, ()) = tokio::try_join!(
            self.urls("remote/list"),
            self.text(Call::read("remote/list").args(refs)),
            self.check_toplevel("remote/list")
        )?;
        let branches: Vec<_> = refs.lines().filter_map(|line| line.strip_suffix('\0')).collect();
        let remote = |(name, (fetch, push)): (String, (String, String))| RemoteInfo {
            provider: Provider::from_url(&fetch),
            push_url: shown(if push.is_empty() { &fetch } else { &push }),
            fetch_url: shown(&fetch),
            branches: branches
                .iter()
                .filter_map(|branch| branch.strip_prefix(&name)?.strip_prefix('/'))
                .map(str::to_owned)
                .collect(),
            name,
        };
        Ok(urls.into_iter().map(remote).collect())
    }

    /// The names of all remotes, sorted.
    pub(crate) async fn remote_names(&self, operation: &'static str) -> Result<Vec<String>, Error> {
        Ok(self.urls(operation).await?.into_keys().collect())
    }

    /// The URLs to fetch from and to push to, by the remote's name.
    async fn urls(&self, operation: &'static str) -> Result<BTreeMap<String, (String, String)>, Error> {
        let args = ["config", "-z", "--get-regexp", r"^remote\..*\.(url|pushurl)$"];
        let output = self.run(Call::read(operation).args(args)).await?;
        // It ends with an error, and without a word, where there is none.
        if !output.success && !output.words.is_empty() {
            return Err(output.failure(operation));
        }
        Ok(addresses(&String::from_utf8_lossy(&output.answer)))
    }

    /// Adds a remote and returns it. Refuses URLs that start programs or hold a password.
    pub async fn add_remote(&self, name: &Remote, url: &str) -> Result<RemoteInfo, Error> {
        if !is_address(url) {
            let message = format!("{url:?} is no address of a repository; use https, ssh, git, file or a path");
            return Err(Error::Git { operation: "remote/add", message, kind: GitKind::BadAddress });
        }
        if has_secret(url) {
            let message = "everybody on this machine could read the password in this address while git runs; leave it \
                           out and use git's credential helper, or ssh"
                .into();
            return Err(Error::Git { operation: "remote/add", message, kind: GitKind::BadAddress });
        }
        self.check_toplevel("remote/add").await?;
        let added = self.answer(Call::write("remote/add").args(["remote", "add", "--", name.as_str(), url])).await;
        added.map_err(|error| match error {
            Error::Git { operation, message, kind: GitKind::Exists } => {
                Error::Git { operation, message, kind: GitKind::RemoteExists }
            }
            error => error,
        })?;
        let all = self.remotes().await?;
        all.into_iter().find(|remote| remote.name == name.as_str()).ok_or_else(|| Error::Git {
            operation: "remote/add",
            message: format!("{name} is gone again"),
            kind: GitKind::NoRemote,
        })
    }

    /// Refuses an unknown remote, because git would take its name for a path.
    pub(crate) async fn known_remote(&self, operation: &'static str, name: &Remote) -> Result<(), Error> {
        if self.remote_names(operation).await?.iter().any(|known| known == name.as_str()) {
            return Ok(());
        }
        let message = format!("there is no remote {:?}; git/remote/list shows them", name.as_str());
        Err(Error::Git { operation, message, kind: GitKind::NoRemote })
    }

    /// Removes a remote and its remote branches.
    pub async fn remove_remote(&self, name: &Remote) -> Result<(), Error> {
        self.check_toplevel("remote/remove").await?;
        self.answer(Call::write("remote/remove").args(["remote", "remove", "--", name.as_str()])).await.map(drop)
    }
}

/// Parses the output of `git config -z`: `remote.NAME.url LF value NUL`.
fn addresses(config: &str) -> BTreeMap<String, (String, String)> {
    let mut found: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (key, value) in config.split('\0').filter_map(|entry| entry.split_once('\n')) {
        let Some(key) = key.strip_prefix("remote.") else { continue };
        if let Some(name) = key.strip_suffix(".url") {
            let urls = found.entry(name.to_owned()).or_default();
            // Of several addresses the first is fetched from.
            if urls.0.is_empty() {
                urls.0 = value.to_owned();
            }
        } else if let Some(name) = key.strip_suffix(".pushurl") {
            found.entry(name.to_owned()).or_default().1 = value.to_owned();
        }
    }
    found
}

/// Whether a URL can be that of a repository: it starts no program (`ext::sh -c …`) and cannot be taken for an option.
fn is_address(url: &str) -> bool {
    let helper =
        url.split_once("::").is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    let allowed = match url.split_once("://") {
        Some((scheme, _)) => ["https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"].contains(&scheme),
        None => true,
    };
    // What follows `//` or a user could be an option for ssh.
    let option = url.starts_with('-') || url.contains("//-") || url.contains("@-");
    !url.is_empty() && !option && !url.contains(char::is_control) && !helper && allowed
}

/// The longest user name that hosts allow; what is longer is a token in its place.
const LONGEST_NAME: usize = 39;

/// Whether a URL holds a password or a token. Git passes URLs to its helpers on their command lines, which everybody
/// can read.
fn has_secret(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':') || user.len() > LONGEST_NAME)
}

/// Whether git takes the URL for a folder of this machine: everything but other URLs and `host:path`.
pub fn is_local(url: &str) -> bool {
    match url.split_once("://") {
        Some((scheme, _)) => scheme.eq_ignore_ascii_case("file"),
        None => url.split_once(':').is_none_or(|(host, _)| host.contains('/')),
    }
}

/// The URL with its password masked.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
        Some((Some((user, _)), host)) => format!("{scheme}://{user}:***@{host}{path}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_its_name() {
        let cases = [
            ("git@github.com:a/b.git", Provider::Github),
            ("https://user:x@github.com/a/b", Provider::Github),
            ("ssh://git@gitlab.example.org:22/a", Provider::Gitlab),
            ("https://bitbucket.org/a", Provider::Bitbucket),
            ("../github.com", Provider::Custom),
            ("https://example.org/github.com", Provider::Custom),
        ];
        for (url, expected) in cases {
            assert_eq!(Provider::from_url(url), expected, "{url}");
        }
    }

    #[test]
    fn a_password_is_not_told() {
        assert_eq!(shown("https://u:secret@h/p@q"), "https://u:***@h/p@q");
        assert_eq!(shown("https://u@h/p"), "https://u@h/p");
        assert_eq!(shown("git@h:p"), "git@h:p");
    }

    #[test]
    fn what_is_an_option_or_starts_a_program_is_no_address() {
        for url in ["", "-x", "--upload-pack=x", "ext::sh -c id", "fd::3", "a\nb", "javascript://x", "transport-x::y"] {
            assert!(!is_address(url), "{url:?}");
        }
        for url in ["https://h/p", "git@h:p", "/srv/x.git", "../x", "ssh://[::1]/p", "file:///x"] {
            assert!(is_address(url), "{url:?}");
        }
    }

    #[test]
    fn a_password_or_a_token_in_an_address_is_seen() {
        let token = "x".repeat(40);
        for url in ["https://u:secret@h/p", "https://:secret@h/p", &format!("https://{token}@h/p"), "ssh://u:s@h/p"] {
            assert!(has_secret(url), "{url:?}");
        }
        for url in ["https://h/p", "https://u@h/p:x@y", "git@h:p", "ssh://git@h:22/p", "/srv/a:b@c", "https://h:8443/p"]
        {
            assert!(!has_secret(url), "{url:?}");
        }
    }

    #[test]
    fn a_folder_of_this_machine_is_told_from_a_host() {
        for url in ["/srv/x.git", "../x", "x", "./a:b", "file:///x", "FILE:///x", "a/b:c", "~/x"] {
            assert!(is_local(url), "{url:?}");
        }
        for url in ["https://h/p", "git@h:p", "h:p", "ssh://h/p", "git://h/p"] {
            assert!(!is_local(url), "{url:?}");
        }
    }

    #[test]
    fn a_remote_may_be_pushed_elsewhere() {
        let found =
            addresses("remote.a.b.url\nhttps://x\0remote.a.b.url\nhttps://y\0remote.a.b.pushurl\nz\0remote.c.url\nw\0");
        assert_eq!(found["a.b"], ("https://x".to_owned(), "z".to_owned()));
        assert_eq!(found["c"], ("w".to_owned(), String::new()));
    }
}
