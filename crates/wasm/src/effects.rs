//! What a module can make happen outside of its own memory.
//!
//! The host looks at the module's [`Grants`](crate::Grants) before each of these, so an implementation need not; it applies
//! the rules that only it knows: the policy of tool calls, budgets, links that lead out of a folder.

use std::path::PathBuf;

use async_trait::async_trait;
use roost_model::secret::Secret;
use url::Url;

/// Why an effect did not happen, in words for the module and its author. Never holds a secret.
pub type EffectError = String;

/// A prompt for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRequest {
    /// The model's name.
    pub model: String,
    /// The instructions that come before the prompt.
    pub system: Option<String>,
    /// The prompt itself.
    pub prompt: String,
}

/// A request over HTTP. Redirects must not be followed to hosts that the grants do not name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The address; its host is granted.
    pub url: Url,
    /// The headers in the module's order.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: String,
}

/// The answer to a request over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code, such as 200.
    pub status: u16,
    /// The headers in the server's order.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

/// A file below a granted folder. An implementation opens it beneath the folder, without following links out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedFile {
    /// The folder that is granted.
    pub folder: PathBuf,
    /// The path below it, without `..`; empty for the folder itself.
    pub relative: PathBuf,
}

/// What a module can make happen. Each effect is refused unless it is implemented.
#[async_trait]
pub trait Effects: Send + Sync + 'static {
    /// Asks a model and returns its text.
    async fn call_model(&self, _request: ModelRequest) -> Result<String, EffectError> {
        Err(missing("models"))
    }

    /// The names of the models that can be asked; the host shows those that are granted.
    async fn list_models(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sends a request over HTTP.
    async fn http(&self, _request: HttpRequest) -> Result<HttpResponse, EffectError> {
        Err(missing("HTTP"))
    }

    /// Reads a file as text; `None` if there is none.
    async fn read_file(&self, _file: GrantedFile) -> Result<Option<String>, EffectError> {
        Err(missing("files"))
    }

    /// Writes a file, in place of an earlier one.
    async fn write_file(&self, _file: GrantedFile, _text: String) -> Result<(), EffectError> {
        Err(missing("files"))
    }

    /// Removes a file if it is there.
    async fn remove_file(&self, _file: GrantedFile) -> Result<(), EffectError> {
        Err(missing("files"))
    }

    /// Makes a folder with its parents.
    async fn make_folder(&self, _folder: GrantedFile) -> Result<(), EffectError> {
        Err(missing("files"))
    }

    /// The names in a folder, sorted.
    async fn list_folder(&self, _folder: GrantedFile) -> Result<Vec<String>, EffectError> {
        Err(missing("files"))
    }

    /// Whether there is a file or folder.
    async fn file_exists(&self, _file: GrantedFile) -> Result<bool, EffectError> {
        Err(missing("files"))
    }

    /// The secret of this name, if there is one.
    async fn secret(&self, _name: &str) -> Option<Secret> {
        None
    }

    /// Asks a person and waits for the answer; `None` if nobody answered in time. The same key is the same question.
    async fn ask(&self, _key: &str, _question: &str) -> Result<Option<String>, EffectError> {
        Err(missing("questions"))
    }

    /// The tools that can be called through the gateway, as a JSON array; the host shows those that are granted.
    async fn list_tools(&self) -> Result<Vec<serde_json::Value>, EffectError> {
        Err(missing("tools"))
    }

    /// Calls a tool through the gateway, under its policy, and returns the text of its result.
    async fn call_tool(&self, _tool: &str, _arguments: &str) -> Result<String, EffectError> {
        Err(missing("tools"))
    }
}

fn missing(what: &str) -> EffectError {
    format!("this host offers no {what} to modules")
}

/// No effects at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEffects;

#[async_trait]
impl Effects for NoEffects {}
