//! The local secret, which proves that a client runs at the host: a file in the state directory, new at each start.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use roost_model::scope::Scope;
use roost_model::time::Timestamp;

use super::{AuthError, Clock, TokenHash, after, token};

/// How long the secret in a link to the page can be redeemed.
const LINK_TTL: Duration = Duration::from_secs(10 * 60);
/// How long a page may go on after that.
const PAGE_TTL: Duration = Duration::from_secs(3600);
/// The greatest number of links, and of pages, that are valid at once; beyond it the oldest goes.
const MOST: usize = 32;

/// The secret, and the secrets of pages that were opened by somebody who knew it.
pub struct LocalSecret {
    secret: TokenHash,
    clock: Clock,
    issued: Mutex<IssuedSecrets>,
}

#[derive(Default)]
struct IssuedSecrets {
    links: ExpiringSecrets,
    pages: ExpiringSecrets,
}

/// Secrets by hash, each with its expiry and with what a device that its page pairs may do.
#[derive(Default)]
struct ExpiringSecrets(HashMap<TokenHash, (Timestamp, Scope)>);

impl LocalSecret {
    /// Makes a new secret and writes it where only this user can read it. Blocks the thread.
    pub fn create(state: &Path, clock: Clock) -> io::Result<Self> {
        let secret = token::random().map_err(io::Error::other)?;
        let path = Self::path(state);
        let new = path.with_extension("secret.new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Made anew and then renamed: nobody had it open before it was private.
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(secret.as_bytes())?;
        fs::rename(&new, &path)?;
        Ok(Self { secret: TokenHash::new(&secret), clock, issued: Mutex::default() })
    }

    /// The path of the secret in a state directory.
    pub fn path(state: &Path) -> PathBuf {
        state.join("local.secret")
    }

    /// What a device may do that is paired by whoever knows this secret: the default for the local secret, and for that
    /// of a page what its link was made for. `None` if it is neither, or its page has expired.
    pub fn admits(&self, secret: &str) -> Option<Scope> {
        let secret = TokenHash::new(secret);
        match secret == self.secret {
            true => Some(Scope::default()),
            false => self.issued().pages.find(secret, (self.clock)()),
        }
    }

    /// A secret for a link to the page: it opens one page, once, which pairs devices with this scope.
    pub fn one_time(&self, scope: Scope) -> Result<String, AuthError> {
        self.issued().links.issue(scope, LINK_TTL, (self.clock)())
    }

    /// Exchanges a link's secret, once, for the secret that its page uses from then on; `None` if it was used or has
    /// expired.
    pub fn redeem(&self, one_time: &str) -> Result<Option<String>, AuthError> {
        let mut issued = self.issued();
        let now = (self.clock)();
        let Some(scope) = issued.links.take(TokenHash::new(one_time), now) else { return Ok(None) };
        issued.pages.issue(scope, PAGE_TTL, now).map(Some)
    }

    fn issued(&self) -> parking_lot::MutexGuard<'_, IssuedSecrets> {
        self.issued.lock()
    }
}

impl ExpiringSecrets {
    fn issue(&mut self, scope: Scope, ttl: Duration, now: Timestamp) -> Result<String, AuthError> {
        let secret = token::random()?;
        self.0.retain(|_, (expires_at, _)| now < *expires_at);
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().min_by_key(|(_, (expires_at, _))| *expires_at).map(|(hash, _)| *hash)
        {
            self.0.remove(&oldest);
        }
        self.0.insert(TokenHash::new(&secret), (after(now, ttl), scope));
        Ok(secret)
    }

    fn find(&self, secret: TokenHash, now: Timestamp) -> Option<Scope> {
        self.0.get(&secret).filter(|(expires_at, _)| now < *expires_at).map(|(_, scope)| *scope)
    }

    fn take(&mut self, secret: TokenHash, now: Timestamp) -> Option<Scope> {
        let scope = self.find(secret, now);
        self.0.remove(&secret);
        scope
    }
}
