//! Where logins at remote servers are kept.

use async_trait::async_trait;
use roost_model::ids::ServiceId;
use roost_model::secret::Secret;

use crate::principal::Principal;

/// Whose login at which service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoginKey {
    /// The service at which somebody logged in.
    pub service: ServiceId,
    /// Whose login it is.
    pub owner: Principal,
}

impl LoginKey {
    /// The login that this principal uses. An agent works for the user of this machine, with that user's login; a device
    /// has its own.
    pub fn for_principal(service: &ServiceId, principal: &Principal) -> Self {
        let owner = match principal {
            Principal::Session(_) => Principal::Local,
            Principal::Local | Principal::Device(_) => principal.clone(),
        };
        Self { service: service.clone(), owner }
    }
}

/// Keeps logins. What it keeps are secrets: they belong in no event and no log.
#[async_trait]
pub trait LoginStore: Send + Sync + 'static {
    /// The login under this key.
    async fn load(&self, key: &LoginKey) -> Result<Option<Secret>, String>;

    /// Keeps a login instead of what was there.
    async fn save(&self, key: &LoginKey, login: Secret) -> Result<(), String>;

    /// Forgets a login.
    async fn remove(&self, key: &LoginKey) -> Result<(), String>;

    /// Forgets everybody's logins at a service.
    async fn remove_all(&self, service: &ServiceId) -> Result<(), String>;
}
