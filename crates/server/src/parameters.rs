//! The one place where it is decided who may give a method's parameters: the table in `roost_rpc::parameters`,
//! enforced for every door, before the method's handler runs.
//!
//! What is looked at is what was understood, written out again: a spelling that only some clients use is the same here.

use std::borrow::Cow;
use std::path::Path;

use roost_engine::plain::{first_unlisted, is_plain_name};
use roost_model::mode::Mode;
use roost_rpc::{Fault, FaultCode, Method, Needs, Parameter, Unless};
use roost_workspace::git::is_local;
use serde_json::{Map, Value};

use crate::caller::Caller;
use crate::dispatch::{Context, Invocation};
use crate::folder_policy::{self, Reach};
use crate::handlers::{check_agent_type, normalize_agent_type};

/// Variables that a device may set: they choose a language, a time zone or colours, and make no program load anything.
const VARIABLES: [&str; 16] = [
    "CLICOLOR",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NO_COLOR",
    "TERM",
    "TZ",
];
/// Characters of such a variable's value at most.
const VALUE: usize = 64;

/// Refuses parameters that this caller may not give.
pub(crate) async fn check(context: &Context<'_>, method: Method, call: &dyn Invocation) -> Result<(), Fault> {
    let rows: Vec<_> = method.parameters().filter(|row| !context.caller.is(row.needs)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let given = call.to_json().map_err(|error| Fault::new(FaultCode::InternalError, error))?;
    // A runtime that nobody knows is refused before anything else is looked at.
    let runtime = given["agent_type"].as_str();
    check_agent_type(context, runtime)?;
    for row in rows {
        match &given[row.name] {
            Value::Null => {}
            value => check_one(context, row, value, runtime).await?,
        }
    }
    Ok(())
}

async fn check_one(context: &Context<'_>, row: &Parameter, value: &Value, runtime: Option<&str>) -> Result<(), Fault> {
    let nothing = Map::new();
    let names = value.as_object().unwrap_or(&nothing);
    let texts = || value.as_array().into_iter().flatten().chain([value]).filter_map(Value::as_str);
    let refused = |key: Option<&str>, how: &str| Err(refusal(context.caller, row, key, how));
    match row.unless {
        Unless::Never => refused(None, "leave it out"),
        Unless::AllowedVariables => match names.iter().find(|(name, value)| !is_plain_variable(name, value)) {
            None => Ok(()),
            Some((name, _)) => {
                let how = format!(
                    "a device may set {} with plain values; set others in [runtimes.<id>.env] of roost.toml",
                    VARIABLES.join(", ")
                );
                refused(Some(name), &how)
            }
        },
        Unless::AllowedSettings => {
            let id = match runtime {
                Some(named) => Cow::Owned(normalize_agent_type(named)),
                None => context.host.sessions.engine.registry().await.default_runtime.into(),
            };
            let listed = context.host.sessions.engine.runtimes().plain_settings(&id);
            match first_unlisted(listed, names) {
                None => Ok(()),
                Some(name) => {
                    let all: Vec<_> = listed.iter().map(|setting| setting.path.join(".")).collect();
                    let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
                    let how = format!(
                        "of {id}'s settings a device may choose {all}, with plain values; set others in \
                         [runtimes.{id}.config] of roost.toml"
                    );
                    refused(Some(&name), &how)
                }
            }
        }
        Unless::PlainName if texts().all(is_plain_name) => Ok(()),
        Unless::PlainName => refused(None, "a device may give a short name without blanks and quotes"),
        Unless::NotYolo => match is_yolo(value) && !context.may_yolo() {
            false => Ok(()),
            true => Err(yolo_from_afar()),
        },
        Unless::SentAsData => {
            let by_path = |image: &Value| image.get("path").is_some_and(|path| !path.is_null());
            match value.as_array().is_some_and(|images| images.iter().any(by_path)) {
                false => Ok(()),
                true => refused(Some("path"), "send the image as data"),
            }
        }
        // Which folder that is, only the handler knows: `handlers::attaching`.
        Unless::BelowSession => Ok(()),
        Unless::InWorkspace => {
            for folder in texts() {
                let real = folder_policy::resolved(Path::new(folder)).await;
                if !real.is_ok_and(|real| context.host.workspaces.containing(&real).is_some()) {
                    return refused(None, "name a workspace_id, or a folder in a workspace");
                }
            }
            Ok(())
        }
        Unless::InWorkspaceOrRoots => {
            for folder in texts() {
                if context.host.workspaces.session_folder(Path::new(folder)).await.is_none() {
                    let how = "name a workspace_id, a folder in a workspace, or a folder beneath workspaces.roots";
                    return refused(None, how);
                }
            }
            Ok(())
        }
        Unless::BeneathRoots => {
            for folder in texts() {
                let admitted = context
                    .host
                    .workspaces
                    .folder_policy()
                    .admit(Path::new(folder), Reach::for_caller(context.caller))
                    .await;
                admitted.map_err(|fault| fault.with("field", row.name))?;
            }
            Ok(())
        }
        Unless::OnAnotherMachine if texts().all(|url| !is_local(url)) => Ok(()),
        Unless::OnAnotherMachine => refused(None, "a device may name an address on another machine"),
    }
}

fn is_plain_variable(name: &str, value: &Value) -> bool {
    let Some(value) = value.as_str() else { return false };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@+-".contains(&byte) || name == "TZ" && byte == b'/';
    VARIABLES.contains(&name)
        && value.len() <= VALUE
        && value.bytes().all(is_plain)
        && !value.starts_with(['/', '.'])
        && !value.contains("..")
}

fn is_yolo(value: &Value) -> bool {
    *value == Value::Bool(true) || value.as_str().is_some_and(|word| word.parse() == Ok(Mode::Yolo))
}

/// The refusal of a mode in which nothing is asked.
fn yolo_from_afar() -> Fault {
    let why = "the mode yolo is not allowed from afar; set policy.allow_yolo in roost.toml to allow it";
    Fault::params(why).with("permission_mode", "yolo")
}

fn refusal(caller: &Caller, row: &Parameter, key: Option<&str>, how: &str) -> Fault {
    let field = key.map_or_else(|| row.name.to_owned(), |key| format!("{}.{key}", row.name));
    let needs = match row.needs {
        Needs::Local => "the local socket (the command line at the machine)",
        Needs::Admin | Needs::Operate => "the scope admin, or the local socket",
    };
    let has = caller.scope;
    let why = format_args!("{field} needs {needs}; this client has {has:?}. {how}");
    let fault = Fault::new(FaultCode::Forbidden, why).with("field", row.name).with("needs", row.needs);
    let fault = fault.with("scope", has);
    match key {
        Some(key) => fault.with("key", key),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_are_plain_only_by_name_and_by_value() {
        let plain = [
            ("LANG", "de_DE.UTF-8"),
            ("LC_ALL", "C"),
            ("TZ", "America/Argentina/Buenos_Aires"),
            ("TERM", "xterm-256color"),
            ("NO_COLOR", ""),
            ("COLUMNS", "120"),
        ];
        for (name, value) in plain {
            assert!(is_plain_variable(name, &json!(value)), "{name}={value}");
        }
        let others = [
            ("PYTHONPATH", "x"),
            ("LC_EVIL", "x"),
            ("lang", "C"),
            ("LANG", "../../tmp/evil"),
            ("LANG", "/tmp/evil"),
            ("LANG", "a/b"),
            ("TZ", ":/etc/passwd"),
            ("TZ", "/etc/passwd"),
            ("TZ", "a/../../b"),
            ("TERM", "$(x)"),
            ("TERM", "a\nb"),
        ];
        for (name, value) in others {
            assert!(!is_plain_variable(name, &json!(value)), "{name}={value}");
        }
        assert!(!is_plain_variable("LANG", &json!("a".repeat(VALUE + 1))));
    }
}
