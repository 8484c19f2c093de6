//! OAuth 2.1 at remote servers: logins by a person, and tokens that renew themselves.
//!
//! The official SDK does the protocol (discovery, PKCE, registration, issuer checks, refresh). Its requests go through the
//! gateway's HTTP client, so a server's metadata cannot lead into the machine or its network.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, CredentialRefreshGuard, CredentialStore, OAuthClientConfig,
    OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest, StoredCredentials,
};
use roost_model::secret::Secret;
use serde::{Deserialize, Serialize};
use url::Url;

use super::address_policy::AddressPolicy;
use super::connector::ConnectError;
use super::http_client::{BodyError, read_body};
use super::login_store::{LoginKey, LoginStore};
use crate::lifecycle::ServiceFault;

/// The longest document of an authorization server that is read.
const MAX_DOCUMENT: usize = 1024 * 1024;

/// How a person wants to log in.
#[derive(Clone, Debug)]
pub struct LoginRequest {
    /// Where the authorization server sends the browser when the person has agreed.
    pub redirect_uri: String,
    /// The client that was registered by hand, if there is one.
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    pub client_secret: Option<Secret>,
    /// The address of a document that describes this client, for servers that read it instead of a registration.
    pub client_metadata_url: Option<String>,
    /// The rights that are asked for; what the server wants unless given.
    pub scopes: Vec<String>,
}

impl LoginRequest {
    /// A login of a client that registers itself.
    pub fn new(redirect_uri: impl Into<String>) -> Self {
        let redirect_uri = redirect_uri.into();
        Self { redirect_uri, client_id: None, client_secret: None, client_metadata_url: None, scopes: Vec::new() }
    }
}

/// A login that waits for its person.
pub struct PendingLogin {
    manager: AuthorizationManager,
    url: String,
    redirect_uri: String,
}

impl PendingLogin {
    /// The address that the person opens in a browser.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Completes the login with the address to which the browser was sent back.
    pub async fn finish(self, redirected_to: &str) -> Result<(), ConnectError> {
        if !redirected_to.starts_with(&self.redirect_uri) {
            return Err(refused("the browser came back to another address than the one that was asked for"));
        }
        let callback = AuthorizationCallback::from_redirect_url(redirected_to).map_err(|error| failed(&error))?;
        let (code, state, issuer) = (&callback.code, &callback.csrf_token, callback.issuer.as_deref());
        let exchanged = self.manager.exchange_code_for_token_with_issuer(code, state, issuer).await;
        exchanged.map(drop).map_err(|error| failed(&error))
    }
}

/// The OAuth side of one service and one login.
pub(super) struct OAuthLogin {
    endpoint: Url,
    store: SharedStore,
    http: Arc<GuardedClient>,
    /// Made when a token is needed for the first time after a login.
    manager: tokio::sync::Mutex<Option<Arc<AuthorizationManager>>>,
    /// What the server last said that it wants of a client.
    challenge: Mutex<Option<String>>,
}

impl OAuthLogin {
    pub(super) fn new(
        client: Client,
        policy: AddressPolicy,
        endpoint: Url,
        key: LoginKey,
        store: Arc<dyn LoginStore>,
    ) -> Self {
        let http = Arc::new(GuardedClient { client, policy, endpoint: endpoint.clone() });
        let store = SharedStore(Arc::new(StoreState {
            key,
            store,
            known: Mutex::default(),
            extra: Mutex::default(),
            refresh: Arc::default(),
        }));
        Self { endpoint, store, http, manager: tokio::sync::Mutex::new(None), challenge: Mutex::new(None) }
    }

    /// The address of the server.
    pub(super) fn endpoint(&self) -> &Url {
        &self.endpoint
    }

    /// Remembers what the server wants, for the next login.
    pub(super) fn challenged(&self, challenge: Option<String>) {
        if challenge.is_some() {
            *self.challenge.lock() = challenge;
        }
    }

    /// The header with a token that has not expired; `None` if nobody has logged in.
    pub(super) async fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, ConnectError> {
        let Some(manager) = self.manager().await? else { return Ok(None) };
        match manager.get_access_token().await {
            Ok(token) => bearer(&token).map(Some),
            Err(AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Gets a new token for one that the server refused. False if there is none.
    pub(super) async fn renew(&self) -> bool {
        match self.manager().await {
            Ok(Some(manager)) => manager.refresh_token().await.is_ok(),
            Ok(None) | Err(_) => false,
        }
    }

    async fn manager(&self) -> Result<Option<Arc<AuthorizationManager>>, ConnectError> {
        let mut current = self.manager.lock().await;
        if let Some(manager) = &*current {
            return Ok(Some(manager.clone()));
        }
        let Some(login) = self.store.0.read().await.map_err(|error| failed(&error))? else { return Ok(None) };
        let mut manager = self.new_manager().await?;
        let resolved = manager.resolve_metadata_from_challenge(login.challenge.as_deref()).await;
        manager.set_metadata(resolved.map_err(|error| failed(&error))?.metadata);
        if !manager.initialize_from_store().await.map_err(|error| failed(&error))? {
            return Ok(None);
        }
        if let Some(secret) = &login.client_secret {
            let config = OAuthClientConfig::new(&login.credentials.client_id, &login.redirect_uri);
            manager.configure_client(config.with_client_secret(secret.expose())).map_err(|error| failed(&error))?;
        }
        let manager = Arc::new(manager);
        *current = Some(manager.clone());
        Ok(Some(manager))
    }

    async fn new_manager(&self) -> Result<AuthorizationManager, ConnectError> {
        let manager = AuthorizationManager::new_with_oauth_http_client(self.endpoint.clone(), self.http.clone()).await;
        let mut manager = manager.map_err(|error| failed(&error))?;
        manager.set_credential_store(self.store.clone());
        Ok(manager)
    }

    /// Finds out where a person can log in, registers this client if need be, and makes the address to open.
    pub(super) async fn begin(&self, request: LoginRequest) -> Result<PendingLogin, ConnectError> {
        // What is known belongs to the old login.
        *self.manager.lock().await = None;
        let challenge = self.challenge.lock().clone();
        let mut manager = self.new_manager().await?;
        let resolved = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
        let metadata = resolved.map_err(|error| failed(&error))?.metadata;
        let reads_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
        let reads_documents = reads_documents.and_then(serde_json::Value::as_bool).unwrap_or(false);
        manager.set_metadata(metadata);
        let earlier = self.store.0.read().await.map_err(|error| failed(&error))?;
        let mut scopes = request.scopes.clone();
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
            // What was granted before is needed for what was done before.
            let granted = earlier.map(|login| login.credentials.granted_scopes).unwrap_or_default();
            scopes.extend(granted.into_iter().filter(|scope| !scopes.contains(scope)).collect::<Vec<_>>());
        }
        let wanted: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let config = match (&request.client_id, &request.client_metadata_url) {
            (Some(client_id), _) => {
                let config = OAuthClientConfig::new(client_id, &request.redirect_uri).with_scopes(scopes.clone());
                match &request.client_secret {
                    Some(secret) => config.with_client_secret(secret.expose()),
                    None => config,
                }
            }
            (None, Some(document)) if reads_documents => {
                OAuthClientConfig::new(document, &request.redirect_uri).with_scopes(scopes.clone())
            }
            (None, _) => {
                let registered = manager.register_client("Roost", &request.redirect_uri, &wanted).await;
                registered.map_err(|error| failed(&error))?
            }
        };
        *self.store.0.extra.lock() = LoginExtra {
            client_secret: config.client_secret.as_deref().map(Secret::from),
            redirect_uri: request.redirect_uri.clone(),
            challenge,
        };
        manager.configure_client(config).map_err(|error| failed(&error))?;
        let url = manager.get_authorization_url(&wanted).await.map_err(|error| failed(&error))?;
        Ok(PendingLogin { manager, url, redirect_uri: request.redirect_uri })
    }
}

fn bearer(token: &str) -> Result<(HeaderName, HeaderValue), ConnectError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| refused("its token cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok((AUTHORIZATION, value))
}

fn refused(message: &str) -> ConnectError {
    ConnectError { fault: ServiceFault::Unauthorized, message: message.into() }
}

fn failed(error: &AuthError) -> ConnectError {
    ConnectError { fault: ServiceFault::Unauthorized, message: format!("the login does not work: {error}") }
}

/// A login as it is kept.
#[derive(Clone, Serialize, Deserialize)]
struct StoredLogin {
    credentials: StoredCredentials,
    #[serde(flatten)]
    extra: LoginExtra,
}

impl std::ops::Deref for StoredLogin {
    type Target = LoginExtra;

    fn deref(&self) -> &LoginExtra {
        &self.extra
    }
}

/// What the SDK does not keep of a login.
#[derive(Clone, Default, Serialize, Deserialize)]
struct LoginExtra {
    client_secret: Option<Secret>,
    redirect_uri: String,
    challenge: Option<String>,
}

/// A login in the store, as the SDK reads and writes it.
#[derive(Clone)]
struct SharedStore(Arc<StoreState>);

struct StoreState {
    key: LoginKey,
    store: Arc<dyn LoginStore>,
    /// What the store has, once it was read: every call asks for it, and every change passes here.
    known: Mutex<Option<Option<StoredLogin>>>,
    /// What belongs to the login that is being made or was made last.
    extra: Mutex<LoginExtra>,
    /// Held while a token is renewed: a renewed token ends the old one.
    refresh: Arc<tokio::sync::Mutex<()>>,
}

impl StoreState {
    async fn read(&self) -> Result<Option<StoredLogin>, AuthError> {
        if let Some(known) = &*self.known.lock() {
            return Ok(known.clone());
        }
        let stored = self.store.load(&self.key).await.map_err(AuthError::CredentialStoreError)?;
        // What an older version kept otherwise is no login any more.
        let login = stored.and_then(|stored| serde_json::from_str(stored.expose()).ok());
        // What was saved meanwhile is newer.
        Ok(self.known.lock().get_or_insert(login).clone())
    }
}

#[async_trait]
impl CredentialStore for SharedStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.0.read().await?.map(|login| login.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let made = self.0.extra.lock().clone();
        let extra = match made.redirect_uri.is_empty() {
            true => self.0.read().await?.map(|login| login.extra).unwrap_or_default(),
            false => made,
        };
        let login = StoredLogin { credentials, extra };
        let text = serde_json::to_string(&login).map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        self.0.store.save(&self.0.key, text.into()).await.map_err(AuthError::CredentialStoreError)?;
        *self.0.known.lock() = Some(Some(login));
        Ok(())
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.0.store.remove(&self.0.key).await.map_err(AuthError::CredentialStoreError)?;
        *self.0.known.lock() = Some(None);
        Ok(())
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        Ok(Some(CredentialRefreshGuard::new(self.0.refresh.clone().lock_owned().await)))
    }
}

/// The requests of the SDK, on the gateway's HTTP client.
struct GuardedClient {
    client: Client,
    policy: AddressPolicy,
    endpoint: Url,
}

impl OAuthHttpClient for GuardedClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let timeout = request.timeout;
            let mut request = reqwest::Request::try_from(request.request)?;
            self.policy.check_linked(request.url(), &self.endpoint)?;
            *request.timeout_mut() = timeout;
            let response = self.client.execute(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read_body(response, MAX_DOCUMENT).await.map_err(|error| match error {
                BodyError::TooLong(bytes) => format!("the authorization server sent {bytes} bytes"),
                BodyError::Broken(reason) => reason,
            })?;
            let mut answer = http::Response::new(body);
            *answer.status_mut() = status;
            *answer.headers_mut() = headers;
            Ok(answer)
        })
    }
}
