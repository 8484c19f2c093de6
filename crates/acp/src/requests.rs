//! The methods that an editor calls, one function each: read the parameters, call the daemon, shape the answer.

use std::path::Path;
use std::sync::Arc;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as acp;
use roost_model::mode::{AnyMode, Mode};
use roost_rpc::{
    DeleteParams, KeptBy, McpServerParams, Presence, PromptDelivery, SessionForkParams, SessionInfo, SessionListParams,
    SessionParams, SessionSendParams, SessionStartParams, StartMode, method,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::choices::{self, SessionChoices};
use crate::content;
use crate::door::Door;
use crate::error;
use crate::profile::{OWN_META, Params};
use crate::projection::Shows;
use crate::serving::EditorOffer;
use crate::session::{SessionCommand, SessionOpening};

/// Sessions on one page of `session/list`.
const PAGE: u32 = 50;

/// A prompt while another one is worked on, as other agents have it too.
const STEERING: &str = "_session/steering";

type Answer = Result<Value, acp::Error>;

/// An answer, and the session that was opened for it: what stands beside the conversation is told after the answer.
pub(crate) struct Answered {
    pub(crate) result: Value,
    pub(crate) opened: Option<mpsc::Sender<SessionCommand>>,
}

impl From<Value> for Answered {
    fn from(result: Value) -> Self {
        Self { result, opened: None }
    }
}

impl Door {
    /// Answers every method but `session/prompt`, which the session's actor answers.
    pub(crate) async fn answer(self: &Arc<Self>, method: &str, params: Params) -> Result<Answered, acp::Error> {
        let answer = match method {
            "session/new" => return self.new_session(&params).await,
            "session/load" => {
                let request: acp::LoadSessionRequest = params.read()?;
                return self.reopen(&request.session_id.0, &request.cwd, &params, Reopen::Load).await;
            }
            "session/resume" => {
                let request: acp::ResumeSessionRequest = params.read()?;
                return self.reopen(&request.session_id.0, &request.cwd, &params, Reopen::Resume).await;
            }
            "session/fork" => return self.fork(&params).await,
            "initialize" => self.initialize(params.read()?),
            "authenticate" => {
                self.ready()?;
                let request: acp::AuthenticateRequest = params.read()?;
                Err(error::invalid_params(format!(
                    "there is no way to log in called \"{}\"; log in with `roost login`",
                    request.method_id
                )))
            }
            "logout" => self.ready().and_then(|()| encode(acp::LogoutResponse::new())),
            STEERING => self.steer(&params).await,
            "session/list" => self.list(params.read()?).await,
            "session/close" => self.close(params.read()?, &params).await,
            "session/delete" => self.delete(params.read()?).await,
            "session/set_mode" => self.set_mode(params.read()?, &params).await,
            "session/set_config_option" => self.set_option(params.read()?, &params).await,
            _ => Err(error::no_method(method)),
        };
        answer.map(Answered::from)
    }

    fn initialize(&self, request: acp::InitializeRequest) -> Answer {
        let v2 = self.settings().protocol_v2 && request.protocol_version > ProtocolVersion::V1;
        let capabilities = acp::AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(acp::PromptCapabilities::new().image(true).audio(false).embedded_context(true))
            .mcp_capabilities(acp::McpCapabilities::new().http(true).sse(false))
            .session_capabilities(
                acp::SessionCapabilities::new()
                    .list(acp::SessionListCapabilities::new())
                    .resume(acp::SessionResumeCapabilities::new())
                    .close(acp::SessionCloseCapabilities::new())
                    .delete(acp::SessionDeleteCapabilities::new()),
            );
        self.settings().evidence.record("initialize", None, json!({}));
        let client = request.client_capabilities;
        self.set_client(Shows {
            v2,
            notices: client.session.as_ref().is_some_and(|session| session.notices.is_some()),
            forms: client.elicitation.as_ref().is_some_and(acp::ElicitationCapabilities::supports_form),
        });
        self.serving().set_offer(EditorOffer::from_capabilities(&client));
        // The protocol allows a login in a terminal only for clients that say they have one.
        let login = self.settings().terminal_login.clone().filter(|_| client.auth.terminal);
        let login = login.map(|args| {
            let method = acp::AuthMethodTerminal::new("terminal", "Log in in a terminal");
            acp::AuthMethod::Terminal(method.description("Runs `roost login`".to_owned()).args(args))
        });
        let answer = acp::InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .auth_methods(login.into_iter().collect())
            .agent_info(acp::Implementation::new("roost", env!("CARGO_PKG_VERSION")).title("Roost".to_owned()));
        let mut answer = encode(answer)?;
        // The official types have these only as an unstable feature, or not at all.
        answer["agentCapabilities"]["sessionCapabilities"]["fork"] = json!({});
        answer["agentCapabilities"]["_meta"] = json!({ "steering": { "supported": true } });
        Ok(answer)
    }

    async fn new_session(self: &Arc<Self>, params: &Params) -> Result<Answered, acp::Error> {
        let request: acp::NewSessionRequest = params.read()?;
        self.ready()?;
        let cwd = absolute(&request.cwd)?;
        let mcp_servers = request.mcp_servers.into_iter().map(mcp_server).collect::<Result<Vec<_>, _>>()?;
        let runtime_config = match params.own("config") {
            None | Some(Value::Null) => None,
            Some(Value::Object(config)) => Some(config.clone()),
            Some(_) => return Err(error::invalid_params("config must be an object")),
        };
        let own = |field: &str, setting: &Option<String>| {
            params.own_text(field).map(ToOwned::to_owned).or_else(|| setting.clone())
        };
        let start = SessionStartParams {
            cwd: Some(cwd),
            mode: Some(StartMode::New),
            permission_mode: permission_mode(params)?.or(self.settings().mode).map(AnyMode),
            agent_type: own("runtime", &self.settings().runtime),
            model: own("model", &self.settings().model),
            runtime_config,
            mcp_servers: (!mcp_servers.is_empty()).then_some(mcp_servers),
            env: (!self.settings().env.is_empty()).then(|| self.settings().env.clone()),
            ..SessionStartParams::default()
        };
        let client = self.daemon().client().await?;
        let session = client.call::<method::SessionStart>(start).await.map_err(error::from_daemon)?;
        self.answer_new(&session.session_id).await
    }

    /// The answer for a session that was just made.
    async fn answer_new(self: &Arc<Self>, id: &str) -> Result<Answered, acp::Error> {
        let (commands, choices) = self.open(id, false).await?;
        self.settings().evidence.record("session_created", Some(id), json!({}));
        let answer =
            acp::NewSessionResponse::new(id.to_owned()).modes(choices.modes()).config_options(choices.options());
        Ok(Answered { result: encode(answer)?, opened: Some(commands) })
    }

    async fn reopen(
        self: &Arc<Self>,
        id: &str,
        cwd: &Path,
        params: &Params,
        how: Reopen,
    ) -> Result<Answered, acp::Error> {
        self.ready()?;
        absolute(cwd)?;
        let (commands, choices) = self.open(id, params.is_legacy).await?;
        let (modes, options) = (choices.modes(), choices.options());
        let result = match how {
            Reopen::Load => {
                let (done, replayed) = oneshot::channel();
                let _ = commands.send(SessionCommand::Replay(done)).await;
                replayed.await.map_err(|_| error::gone())??;
                encode(acp::LoadSessionResponse::new().modes(modes).config_options(options))
            }
            Reopen::Resume => encode(acp::ResumeSessionResponse::new().modes(modes).config_options(options)),
        };
        Ok(Answered { result: result?, opened: Some(commands) })
    }

    async fn fork(self: &Arc<Self>, params: &Params) -> Result<Answered, acp::Error> {
        /// The fields of the request that matter here; the official type is an unstable feature.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ForkSession {
            session_id: String,
        }
        let request: ForkSession = params.read()?;
        self.ready()?;
        let fork = SessionForkParams {
            session_id: request.session_id,
            workspace_id: None,
            cwd: None,
            agent_type: None,
            title: None,
            permission_mode: permission_mode(params)?.map(AnyMode),
            yolo_mode: None,
        };
        let client = self.daemon().client().await?;
        let forked = client.call::<method::SessionFork>(fork).await.map_err(error::from_daemon)?;
        self.answer_new(&forked.session_id).await
    }

    /// Gives a prompt to the running task, or starts one, without waiting for its end; it is queued where the runtime cannot
    /// be steered. What comes of it is told in updates.
    async fn steer(self: &Arc<Self>, params: &Params) -> Answer {
        let prompt = SessionSendParams { delivery: Some(PromptDelivery::Steer), ..prompt(params)? };
        self.ready()?;
        self.open(prompt.session_id.as_deref().unwrap_or_default(), params.is_legacy).await?;
        let client = self.daemon().client().await?;
        let sent = client.call::<method::SessionSend>(prompt).await.map_err(error::from_daemon)?;
        let outcome = if sent.delivery == "steered" { "injected" } else { "startedNewTurn" };
        Ok(json!({ "outcome": outcome, "_meta": { OWN_META: { "delivery": sent.delivery } } }))
    }

    async fn list(&self, request: acp::ListSessionsRequest) -> Answer {
        self.ready()?;
        let offset: u32 = match &request.cursor {
            None => 0,
            Some(cursor) => {
                let number = cursor.strip_prefix("after-").and_then(|number| number.parse().ok());
                number.ok_or_else(|| error::invalid_params(format!("\"{cursor}\" is no cursor of session/list")))?
            }
        };
        let params = SessionListParams {
            cwd: request.cwd.map(|cwd| absolute(&cwd)).transpose()?,
            // One that only its runtime has would have to become a session of Roost before it can be loaded.
            source: Some(KeptBy::Managed),
            limit: Some(PAGE),
            offset: Some(offset),
            ..SessionListParams::default()
        };
        let client = self.daemon().client().await?;
        let page = client.call::<method::SessionList>(params).await.map_err(error::from_daemon)?;
        let shown = u32::try_from(page.sessions.len()).unwrap_or(PAGE);
        let next = (shown > 0 && u64::from(offset + shown) < page.total).then(|| format!("after-{}", offset + shown));
        let sessions = page.sessions.iter().map(session_info).collect();
        encode(acp::ListSessionsResponse::new(sessions).next_cursor(next))
    }

    async fn close(self: &Arc<Self>, request: acp::CloseSessionRequest, params: &Params) -> Answer {
        self.ready()?;
        let id = &*request.session_id.0;
        let (commands, _) = self.open(id, params.is_legacy).await?;
        let (done, closed) = oneshot::channel();
        let _ = commands.send(SessionCommand::Close(done)).await;
        closed.await.map_err(|_| error::gone())??;
        self.forget(id);
        encode(acp::CloseSessionResponse::new())
    }

    async fn delete(&self, request: acp::DeleteSessionRequest) -> Answer {
        self.ready()?;
        let id = request.session_id.0.to_string();
        self.forget(&id);
        let client = self.daemon().client().await?;
        let params = DeleteParams { session_id: Some(id), ..DeleteParams::default() };
        match client.call::<method::SessionDelete>(params).await.map_err(error::from_daemon) {
            // The protocol wants a session that does not exist to be as good as deleted.
            Err(error) if i32::from(error.code) != error::NOT_FOUND => Err(error),
            _ => encode(acp::DeleteSessionResponse::new()),
        }
    }

    async fn set_mode(self: &Arc<Self>, request: acp::SetSessionModeRequest, params: &Params) -> Answer {
        self.ready()?;
        let mode = parse_mode(&request.mode_id.0)?;
        let change = SessionStartParams { permission_mode: Some(AnyMode(mode)), ..SessionStartParams::default() };
        self.amend(&request.session_id.0, change, params).await?;
        let (session, mode) = (Some(&*request.session_id.0), json!({ "mode": mode.as_str() }));
        self.settings().evidence.record("session_mode_changed", session, mode);
        encode(acp::SetSessionModeResponse::new())
    }

    async fn set_option(self: &Arc<Self>, request: acp::SetSessionConfigOptionRequest, params: &Params) -> Answer {
        self.ready()?;
        let option = &*request.config_id.0;
        let Some(value) = request.value.as_value_id().map(|value| &*value.0) else {
            return Err(error::invalid_params(format!("the value of \"{option}\" must be the id of a choice")));
        };
        let session = &*request.session_id.0;
        let change = match option {
            choices::MODE => SessionStartParams {
                permission_mode: Some(AnyMode(parse_mode(value)?)),
                ..SessionStartParams::default()
            },
            choices::MODEL if value != choices::DEFAULT => {
                SessionStartParams { model: Some(value.to_owned()), ..SessionStartParams::default() }
            }
            choices::MODEL => {
                let current = self.info(session, params.is_legacy).await?.record.model;
                match current {
                    None => SessionStartParams::default(),
                    Some(_) => {
                        return Err(error::invalid_params(
                            "a session with a model cannot go back to the default; make a new session",
                        ));
                    }
                }
            }
            choices::THOUGHT_LEVEL if value != choices::DEFAULT => {
                SessionStartParams { thought_level: Some(value.to_owned()), ..SessionStartParams::default() }
            }
            choices::THOUGHT_LEVEL => {
                let level = self.info(session, params.is_legacy).await?.thought_level;
                match level.and_then(|level| level.current) {
                    None => SessionStartParams::default(),
                    Some(_) => {
                        return Err(error::invalid_params(
                            "a session with a thought level cannot go back to the default; choose another level",
                        ));
                    }
                }
            }
            choices::RUNTIME => {
                let runtime = self.info(session, params.is_legacy).await?.agent_type;
                if runtime != value {
                    return Err(error::invalid_params(format!(
                        "the runtime of a session never changes, and this one has {runtime}; make a new session"
                    )));
                }
                SessionStartParams::default()
            }
            _ => return Err(error::invalid_params(format!("there is no option \"{option}\""))),
        };
        let choices = self.amend(session, change, params).await?;
        encode(acp::SetSessionConfigOptionResponse::new(choices.options()))
    }

    /// Changes a session, and returns its choices after that. The editor also hears of them as an update.
    async fn amend(
        self: &Arc<Self>,
        session: &str,
        change: SessionStartParams,
        params: &Params,
    ) -> Result<SessionChoices, acp::Error> {
        self.open(session, params.is_legacy).await?;
        let client = self.daemon().client().await?;
        let change = SessionStartParams { session_id: Some(session.to_owned()), ..change };
        client.call::<method::SessionStart>(change).await.map_err(error::from_daemon)?;
        Ok(SessionChoices::from_info(&self.info(session, params.is_legacy).await?))
    }

    async fn info(&self, id: &str, is_legacy: bool) -> Result<SessionInfo, acp::Error> {
        let params = || SessionParams { session_id: id.to_owned(), agent_type: None };
        let client = self.daemon().client().await?;
        let found = match client.call::<method::SessionGet>(params()).await {
            // The daemon has gone since the last call; the next connection starts it again.
            Err(roost_client::Error::Gone) => {
                client.gone().await;
                self.daemon().client().await?.call::<method::SessionGet>(params()).await
            }
            found => found,
        };
        found.map_err(|failed| match error::from_daemon(failed) {
            error if i32::from(error.code) == error::NOT_FOUND => error::no_session(id, is_legacy),
            error => error,
        })
    }

    /// The session, which is opened if it is not open here yet: an editor need not load a session before it prompts it.
    pub(crate) async fn open(
        self: &Arc<Self>,
        id: &str,
        is_legacy: bool,
    ) -> Result<(mpsc::Sender<SessionCommand>, SessionChoices), acp::Error> {
        let info = self.info(id, is_legacy).await?;
        let choices = SessionChoices::from_info(&info);
        let _guard = self.opening().lock().await;
        if let Some(commands) = self.commands(id) {
            return Ok((commands, choices));
        }
        self.has_room()?;
        let session = SessionOpening {
            id: id.to_owned(),
            choices: choices.clone(),
            cost_usd: info.record.usage.cost_usd,
            editor: self.editor().clone(),
            evidence: self.settings().evidence.clone(),
            client: self.daemon().client().await?,
            shows: self.shows(),
        };
        self.serving().offer(&session.client, self, id).await;
        let handle = session.start().await?;
        let commands = handle.commands().ok_or_else(error::gone)?;
        self.remember(id, handle);
        Ok((commands, choices))
    }
}

/// How a session that exists is opened.
enum Reopen {
    /// Everything that happened in it is shown first.
    Load,
    /// Nothing is repeated.
    Resume,
}

/// The prompt for the daemon.
pub(crate) fn prompt(params: &Params) -> Result<SessionSendParams, acp::Error> {
    let request: acp::PromptRequest = params.read()?;
    let content = content::prompt(request.prompt)?;
    Ok(SessionSendParams {
        prompt: content.text,
        session_id: Some(request.session_id.0.to_string()),
        workspace_id: None,
        mode: None,
        permission_mode: None,
        yolo_mode: None,
        agent_type: None,
        approver: Some(Presence::Present),
        model: None,
        images: (!content.images.is_empty()).then_some(content.images),
        files: None,
        delivery: None,
        key: None,
    })
}

fn encode(answer: impl serde::Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|failed| error::internal(failed.to_string()))
}

fn absolute(cwd: &Path) -> Result<String, acp::Error> {
    match cwd.to_str() {
        Some(path) if cwd.is_absolute() => Ok(path.to_owned()),
        _ => Err(error::invalid_params(format!("cwd must be an absolute path, not \"{}\"", cwd.display()))),
    }
}

fn parse_mode(text: &str) -> Result<Mode, acp::Error> {
    text.parse().map_err(|unknown: roost_model::mode::UnknownMode| error::invalid_params(unknown.to_string()))
}

fn permission_mode(params: &Params) -> Result<Option<Mode>, acp::Error> {
    params.own_text("permissionMode").map(parse_mode).transpose()
}

/// A tool server of the editor, for the daemon.
fn mcp_server(server: acp::McpServer) -> Result<McpServerParams, acp::Error> {
    let named = |name| McpServerParams { name, command: None, args: None, env: None, url: None, headers: None };
    match server {
        acp::McpServer::Stdio(server) => Ok(McpServerParams {
            command: Some(server.command.to_string_lossy().into_owned()),
            args: Some(server.args),
            env: Some(server.env.into_iter().map(|variable| (variable.name, variable.value.into())).collect()),
            ..named(server.name)
        }),
        acp::McpServer::Http(server) => Ok(McpServerParams {
            url: Some(server.url),
            headers: Some(server.headers.into_iter().map(|header| (header.name, header.value.into())).collect()),
            ..named(server.name)
        }),
        acp::McpServer::Sse(server) => Err(error::invalid_params(format!(
            "the MCP server \"{}\" cannot be used: servers over SSE are not supported; use its HTTP endpoint",
            server.name
        ))),
        _ => Err(error::invalid_params("an MCP server is of a kind that is not supported")),
    }
}

fn session_info(info: &SessionInfo) -> acp::SessionInfo {
    let meta = json!({ OWN_META: { "runtime": info.agent_type, "status": info.status } });
    acp::SessionInfo::new(info.session_id.clone(), info.project_path.clone())
        .title(info.summary.clone())
        .updated_at(info.last_updated.to_string())
        .meta(meta.as_object().cloned())
}
