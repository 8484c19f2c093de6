//! What a module does outside of its memory. Each is granted first; the time of waiting does not count.
//!
//! Where the language has a result for it, a refusal is that result's error; where it has none, the call ends.

use std::sync::Arc;

use roost_model::service::wasm::FolderAccess;
use serde_json::{Map, Value};
use wasmtime::{Caller, Linker};

use super::memory::Slot;
use super::{Guest, IMPORT_MODULE as ENV, bounded_json};
use crate::effects::{EffectError, HttpRequest, HttpResponse, ModelRequest};
use crate::outcome::HostTrap;
use crate::service_log::LogLevel;
use crate::store::{CallState, ServiceContext};

/// What a question is answered with if nobody does; programs of the language compare with it.
const NO_ANSWER: &str = "[hitl_ask timeout]";

/// What `http_post` says about its body, as a JSON object.
const POST_HEADERS: &str = r#"{"content-type":"text/plain"}"#;

/// Adds the effects.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    add_models(linker)?;
    add_http(linker)?;
    add_files(linker)?;
    add_people_and_secrets(linker)?;
    add_tools(linker)?;
    linker.func_wrap(ENV, "policy_is_url_allowed", |caller: Caller<'_, CallState>, address: i32| {
        let mut guest = Guest::of(caller)?;
        let address = guest.string(address)?;
        Ok(i32::from(guest.state().service.grants.http(&address).is_ok()))
    })?;
    linker.func_wrap(ENV, "policy_is_effect_allowed", |caller: Caller<'_, CallState>, effect: i32| {
        let mut guest = Guest::of(caller)?;
        let effect = guest.string(effect)?;
        Ok(i32::from(guest.state().service.grants.effect(&effect)))
    })?;
    Ok(())
}

/// Waits for an effect without counting the time.
async fn wait<T>(guest: &mut Guest<'_>, effect: impl AsyncFnOnce(Arc<ServiceContext>) -> T) -> T {
    let (_pause, service) = (guest.state().pause(), guest.state().service.clone());
    effect(service).await
}

fn text_result(guest: &mut Guest<'_>, result: Result<String, EffectError>) -> wasmtime::Result<i32> {
    guest.new_result_string(result.as_deref().map_err(String::as_str))
}

fn add_models(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    async fn call(guest: &mut Guest<'_>, request: ModelRequest) -> wasmtime::Result<i32> {
        let answer = wait(guest, async |service| {
            service.grants.model(&request.model).map_err(|denied| denied.to_string())?;
            service.effects.call_model(request).await
        });
        let answer = answer.await;
        text_result(guest, answer)
    }
    linker.func_wrap_async(ENV, "call_model", |caller: Caller<'_, CallState>, (model, prompt): (i32, i32)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let (model, prompt) = (guest.string(model)?, guest.string(prompt)?);
            call(&mut guest, ModelRequest { model, system: None, prompt }).await
        })
    })?;
    linker.func_wrap_async(
        ENV,
        "call_model_system",
        |caller: Caller<'_, CallState>, (model, system, prompt): (i32, i32, i32)| {
            Box::new(async move {
                let mut guest = Guest::of(caller)?;
                let (model, system, prompt) = (guest.string(model)?, guest.string(system)?, guest.string(prompt)?);
                call(&mut guest, ModelRequest { model, system: Some(system), prompt }).await
            })
        },
    )?;
    linker.func_wrap_async(ENV, "list_models", |caller: Caller<'_, CallState>, (): ()| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let models = wait(&mut guest, async |service| {
                let models = service.effects.list_models().await;
                models.into_iter().filter(|name| service.grants.model(name).is_ok()).collect::<Vec<_>>()
            });
            let models = models.await;
            guest.new_strings(models)
        })
    })?;
    Ok(())
}

fn add_http(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap_async(ENV, "http_get", |caller: Caller<'_, CallState>, (address,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let address = guest.string(address)?;
            let answer = send(&mut guest, "GET", &address, "", "").await.and_then(success);
            text_result(&mut guest, answer)
        })
    })?;
    linker.func_wrap_async(ENV, "http_post", |caller: Caller<'_, CallState>, (address, body): (i32, i32)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let (address, body) = (guest.string(address)?, guest.string(body)?);
            let answer = send(&mut guest, "POST", &address, POST_HEADERS, &body).await.and_then(success);
            text_result(&mut guest, answer)
        })
    })?;
    for (name, whole) in [("http_request", false), ("http_request_full", true)] {
        linker.func_wrap_async(
            ENV,
            name,
            move |caller: Caller<'_, CallState>, (method, address, headers, body): (i32, i32, i32, i32)| {
                Box::new(async move {
                    let mut guest = Guest::of(caller)?;
                    let (method, address) = (guest.string(method)?, guest.string(address)?);
                    let (headers, body) = (guest.string(headers)?, guest.string(body)?);
                    let answer = send(&mut guest, &method, &address, &headers, &body).await;
                    let answer = if whole { answer.map(described) } else { answer.and_then(success) };
                    text_result(&mut guest, answer)
                })
            },
        )?;
    }
    Ok(())
}

async fn send(
    guest: &mut Guest<'_>,
    method: &str,
    address: &str,
    headers: &str,
    body: &str,
) -> Result<HttpResponse, EffectError> {
    let limit = guest.state().limits.memory_bytes;
    let headers = match headers.trim() {
        "" => Map::new(),
        text => match bounded_json::parse(text, limit).map_err(|error| error.to_string())? {
            Some(Value::Object(headers)) => headers,
            _ => return Err("the headers are no JSON object".into()),
        },
    };
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let headers = headers.into_iter().map(|(name, value)| (name, text(value))).collect();
    let answer = wait(guest, async |service| {
        let url = service.grants.http(address).map_err(|denied| denied.to_string())?;
        let request = HttpRequest { method: method.to_ascii_uppercase(), url, headers, body: body.to_owned() };
        service.effects.http(request).await
    });
    answer.await
}

fn success(response: HttpResponse) -> Result<String, EffectError> {
    match response.status {
        200..=299 => Ok(response.body),
        status => Err(format!("HTTP {status}: {}", response.body)),
    }
}

fn described(response: HttpResponse) -> String {
    let headers: Map<_, _> = response.headers.into_iter().map(|(name, value)| (name, value.into())).collect();
    serde_json::json!({ "status": response.status, "headers": headers, "body": response.body }).to_string()
}

fn add_files(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap_async(ENV, "read_file", |caller: Caller<'_, CallState>, (path,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let file = granted(&mut guest, path, FolderAccess::Read)?;
            let text = wait(&mut guest, async |service| service.effects.read_file(file).await).await;
            // A file that is not there is empty for programs of the language.
            guest.new_string(&text.map_err(HostTrap::Fault)?.unwrap_or_default())
        })
    })?;
    linker.func_wrap_async(ENV, "write_file", |caller: Caller<'_, CallState>, (path, text): (i32, i32)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let (file, text) = (granted(&mut guest, path, FolderAccess::Write)?, guest.string(text)?);
            let written = wait(&mut guest, async |service| service.effects.write_file(file, text).await).await;
            Ok(written.map_err(HostTrap::Fault)?)
        })
    })?;
    linker.func_wrap_async(ENV, "remove_file", |caller: Caller<'_, CallState>, (path,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let file = granted(&mut guest, path, FolderAccess::Write)?;
            let removed = wait(&mut guest, async |service| service.effects.remove_file(file).await).await;
            Ok(removed.map_err(HostTrap::Fault)?)
        })
    })?;
    linker.func_wrap_async(ENV, "make_dir", |caller: Caller<'_, CallState>, (path,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let folder = granted(&mut guest, path, FolderAccess::Write)?;
            let made = wait(&mut guest, async |service| service.effects.make_folder(folder).await).await;
            Ok(made.map_err(HostTrap::Fault)?)
        })
    })?;
    linker.func_wrap_async(ENV, "list_dir", |caller: Caller<'_, CallState>, (path,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let folder = granted(&mut guest, path, FolderAccess::Read)?;
            let names = wait(&mut guest, async |service| service.effects.list_folder(folder).await).await;
            guest.new_strings(names.map_err(HostTrap::Fault)?)
        })
    })?;
    linker.func_wrap_async(ENV, "file_exists", |caller: Caller<'_, CallState>, (path,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let file = granted(&mut guest, path, FolderAccess::Read)?;
            let exists = wait(&mut guest, async |service| service.effects.file_exists(file).await).await;
            Ok(i32::from(exists.map_err(HostTrap::Fault)?))
        })
    })?;
    Ok(())
}

fn granted(guest: &mut Guest<'_>, path: i32, access: FolderAccess) -> wasmtime::Result<crate::effects::GrantedFile> {
    let path = guest.string(path)?;
    Ok(guest.state().service.grants.file(&path, access)?)
}

fn add_people_and_secrets(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap_async(ENV, "get_secret", |caller: Caller<'_, CallState>, (name,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let name = guest.string(name)?;
            if let Err(denied) = guest.state().service.grants.secret(&name) {
                // The language knows no reason here, so its author finds it in the log.
                guest.state().log.print(LogLevel::Warn, &denied.to_string());
                return guest.new_option(None);
            }
            let secret = wait(&mut guest, async |service| service.effects.secret(&name).await).await;
            guest.new_option_string(secret.as_ref().map(|secret| secret.expose()))
        })
    })?;
    linker.func_wrap_async(ENV, "hitl_ask", |caller: Caller<'_, CallState>, (key, question): (i32, i32)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let (key, question) = (guest.string(key)?, guest.string(question)?);
            guest.state().service.grants.ask()?;
            let answer = wait(&mut guest, async |service| service.effects.ask(&key, &question).await).await;
            guest.new_string(answer.map_err(HostTrap::Fault)?.as_deref().unwrap_or(NO_ANSWER))
        })
    })?;
    Ok(())
}

/// The gateway is the only server that can be reached: its tools are those of every server behind it.
fn add_tools(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "mcp_connect", |caller: Caller<'_, CallState>, address: i32| {
        let mut guest = Guest::of(caller)?;
        guest.string(address)?;
        if let Err(denied) = guest.state().service.grants.any_tool() {
            return guest.new_result(Err(&denied.to_string()));
        }
        guest.state().clarity.servers += 1;
        let handle = guest.state().clarity.servers;
        guest.new_result(Ok(Slot::I64(handle)))
    })?;
    linker.func_wrap(ENV, "mcp_disconnect", |_session: i64| {})?;
    linker.func_wrap_async(ENV, "mcp_list_tools", |caller: Caller<'_, CallState>, (session,): (i64,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let known = is_connected(&mut guest, session);
            let tools = wait(&mut guest, async |service| {
                known?;
                let tools = service.effects.list_tools().await?;
                let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
                let may = |tool: &Value| name(tool).is_some_and(|name| service.grants.tool(&name).is_ok());
                Ok(Value::from_iter(tools.into_iter().filter(may)).to_string())
            });
            let tools = tools.await;
            text_result(&mut guest, tools)
        })
    })?;
    linker.func_wrap_async(
        ENV,
        "mcp_call_tool",
        |caller: Caller<'_, CallState>, (session, tool, arguments): (i64, i32, i32)| {
            Box::new(async move {
                let mut guest = Guest::of(caller)?;
                let known = is_connected(&mut guest, session);
                let (tool, arguments) = (guest.string(tool)?, guest.string(arguments)?);
                let result = wait(&mut guest, async |service| {
                    known?;
                    service.grants.tool(&tool).map_err(|denied| denied.to_string())?;
                    service.effects.call_tool(&tool, &arguments).await
                });
                let result = result.await;
                text_result(&mut guest, result)
            })
        },
    )?;
    Ok(())
}

fn is_connected(guest: &mut Guest<'_>, session: i64) -> Result<(), EffectError> {
    let is_known = (1..=guest.state().clarity.servers).contains(&session);
    is_known.then_some(()).ok_or_else(|| format!("Unknown MCP session: {session}"))
}
