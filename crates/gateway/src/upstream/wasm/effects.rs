//! What modules do outside of their memory. The host has looked at their grants before any of it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use reqwest::{Client, Method, Response};
use roost_model::ids::ServiceId;
use roost_model::secret::Secret;
use roost_wasm::effects::{EffectError, GrantedFile, HttpRequest, HttpResponse, ModelRequest};
use roost_wasm::{Effects, regular_file};
use serde_json::Value;

use super::gateway_access::{CallChain, GatewayAccess, MAX_DEPTH, ModelCall};
use super::models::{ModelAnswer, ModelSettings};
use crate::auth_ref::AuthRef;
use crate::principal::Principal;
use crate::upstream::ReadVariable;
use crate::upstream::address_policy::AddressPolicy;
use crate::upstream::http_client::{self, BodyError};

/// How long a server may take to answer a module.
const HTTP_PATIENCE: Duration = Duration::from_secs(30);
/// The bytes of a response or file that a module gets at most.
const MAX_BYTES: usize = 8 << 20;
/// The bytes of a call's arguments; read, they take many times as much memory.
const MAX_ARGUMENTS: usize = 1 << 20;

/// Everything outside of the modules that they can be granted.
pub(in crate::upstream) struct OutsideWorld {
    pub(in crate::upstream) client: Client,
    pub(in crate::upstream) addresses: AddressPolicy,
    /// The folder of secrets.
    pub(in crate::upstream) secrets: PathBuf,
    pub(in crate::upstream) variable: ReadVariable,
    pub(in crate::upstream) gateway: GatewayAccess,
    pub(in crate::upstream) models: ModelSettings,
}

/// Who called a module.
pub(super) struct ModuleCaller {
    pub(super) principal: Principal,
    /// The service of the module.
    pub(super) service: ServiceId,
    /// What its own calls take over from this one.
    pub(super) chain: CallChain,
}

/// The effects of one call.
pub(super) struct ModuleEffects {
    outside: Arc<OutsideWorld>,
    /// Absent while a module is loaded.
    caller: Option<ModuleCaller>,
    /// The variables of its manifest.
    variables: Vec<(String, String)>,
}

impl ModuleEffects {
    /// Effects that nobody asked for: none that need a caller.
    pub(super) fn of_nobody(outside: Arc<OutsideWorld>) -> Self {
        Self { outside, caller: None, variables: Vec::new() }
    }

    /// The effects of a call on somebody's behalf.
    pub(super) fn on_behalf(
        outside: Arc<OutsideWorld>,
        caller: ModuleCaller,
        variables: Vec<(String, String)>,
    ) -> Self {
        Self { outside, caller: Some(caller), variables }
    }

    fn caller(&self) -> Result<&ModuleCaller, EffectError> {
        self.caller.as_ref().ok_or_else(|| "nobody has called the module".into())
    }
}

#[async_trait]
impl Effects for ModuleEffects {
    async fn call_model(&self, request: ModelRequest) -> Result<String, EffectError> {
        // What nobody asked for must not cost anything.
        let caller = self.caller()?;
        let OutsideWorld { client, variable, secrets, models, .. } = &*self.outside;
        let model = request.model.clone();
        let ModelAnswer { text, input_tokens, output_tokens } =
            models.ask(client, (variable, secrets.as_path()), request).await?;
        // Without a gateway nobody has a run in which it could count.
        if let Ok(gateway) = self.outside.gateway.get() {
            let call = ModelCall { service: caller.service.clone(), model, input_tokens, output_tokens };
            gateway.report_model_call(&caller.principal, caller.chain.run.as_deref(), call).await;
        }
        Ok(text)
    }

    async fn list_models(&self) -> Vec<String> {
        self.outside.models.names.clone()
    }

    async fn http(&self, request: HttpRequest) -> Result<HttpResponse, EffectError> {
        let HttpRequest { method, url, headers, body } = request;
        self.outside.addresses.check_module(&url).map_err(|refused| refused.to_string())?;
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| format!("{method:?} is no method of HTTP"))?;
        let mut sent = self.outside.client.request(method, url).timeout(HTTP_PATIENCE).body(body);
        for (name, value) in headers {
            sent = sent.header(name, value);
        }
        // Redirects are not followed, so no answer comes from a host that was not granted.
        let response = sent.send().await.map_err(|error| http_client::reason(&error))?;
        let status = response.status().as_u16();
        let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let body = read_limited(response).await?;
        Ok(HttpResponse { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
    }

    async fn read_file(&self, file: GrantedFile) -> Result<Option<String>, EffectError> {
        beneath(file, |folder, path| {
            let file = match regular_file::open_beneath(folder, path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                file => file?,
            };
            let bytes = regular_file::read(file, MAX_BYTES as u64)?;
            String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is no text"))
        })
        .await
    }

    async fn write_file(&self, file: GrantedFile, text: String) -> Result<(), EffectError> {
        beneath(file, move |folder, path| regular_file::create_beneath(folder, path)?.write_all(text.as_bytes())).await
    }

    async fn remove_file(&self, file: GrantedFile) -> Result<(), EffectError> {
        beneath(file, |folder, path| match folder.remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
        .await
    }

    async fn make_folder(&self, folder: GrantedFile) -> Result<(), EffectError> {
        beneath(folder, |folder, path| folder.create_dir_all(path)).await
    }

    async fn list_folder(&self, folder: GrantedFile) -> Result<Vec<String>, EffectError> {
        beneath(folder, |folder, path| {
            let mut names = Vec::new();
            for entry in folder.read_dir(path)? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            names.sort();
            Ok(names)
        })
        .await
    }

    async fn file_exists(&self, file: GrantedFile) -> Result<bool, EffectError> {
        beneath(file, |folder, path| folder.try_exists(path)).await
    }

    /// The variable of this name in the manifest, else the file of this name in the folder of secrets, else the variable of
    /// the daemon: both the manifest and the policy name it, or nobody asks for it here.
    async fn secret(&self, name: &str) -> Option<Secret> {
        if let Some((_, value)) = self.variables.iter().find(|(variable, _)| variable == name) {
            return Some(value.as_str().into());
        }
        let (outside, name) = (self.outside.clone(), name.to_owned());
        let read = move || {
            let references = [format!("file:{name}"), format!("env:{name}")];
            let mut found = references.iter().filter_map(|reference| {
                let (_, secret) =
                    AuthRef::parse(reference).ok()?.read(|name| (outside.variable)(name), &outside.secrets).ok()?;
                // A module wants it without the word that a header needs.
                let text = secret.expose();
                Some(Secret::from(text.strip_prefix("Bearer ").unwrap_or(text)))
            });
            found.next()
        };
        tokio::task::spawn_blocking(read).await.ok()?
    }

    async fn ask(&self, key: &str, question: &str) -> Result<Option<String>, EffectError> {
        let caller = self.caller()?;
        self.outside.gateway.get()?.ask(&caller.principal, &caller.service, key, question).await
    }

    async fn list_tools(&self) -> Result<Vec<Value>, EffectError> {
        self.outside.gateway.get()?.list_tools(&self.caller()?.principal).await
    }

    async fn call_tool(&self, tool: &str, arguments: &str) -> Result<String, EffectError> {
        let caller = self.caller()?;
        if caller.chain.depth >= MAX_DEPTH {
            return Err(format!("{MAX_DEPTH} modules have called each other already; {tool} is not called"));
        }
        if arguments.len() > MAX_ARGUMENTS {
            return Err(format!("arguments may have {} KiB; {tool} is not called", MAX_ARGUMENTS >> 10));
        }
        let arguments =
            serde_json::from_str(arguments).map_err(|error| format!("its arguments are no JSON: {error}"))?;
        let gateway = self.outside.gateway.get()?;
        gateway.call_tool(&caller.principal, tool, arguments, caller.chain.meta()).await
    }
}

/// The body of a response, if it is not too long.
pub(super) async fn read_limited(response: Response) -> Result<Vec<u8>, EffectError> {
    http_client::read_body(response, MAX_BYTES).await.map_err(|error| match error {
        BodyError::TooLong(_) => format!("the answer has more than {} MiB", MAX_BYTES >> 20),
        BodyError::Broken(reason) => reason,
    })
}

/// Does something beneath a granted folder, out of which no link leads, where it may wait for the disk.
async fn beneath<T: Send + 'static>(
    file: GrantedFile,
    work: impl FnOnce(&Dir, &Path) -> io::Result<T> + Send + 'static,
) -> Result<T, EffectError> {
    let GrantedFile { folder, relative } = file;
    let name = folder.join(&relative).display().to_string();
    let done = tokio::task::spawn_blocking(move || {
        let folder = Dir::open_ambient_dir(&folder, ambient_authority())?;
        let path = if relative.as_os_str().is_empty() { Path::new(".") } else { &relative };
        work(&folder, path)
    });
    let done = done.await.map_err(|_| "the daemon is shutting down".to_owned())?;
    done.map_err(|error| format!("{name}: {error}"))
}
