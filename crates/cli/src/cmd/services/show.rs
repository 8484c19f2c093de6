//! Services in words and tables.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use roost_model::service::Lifecycle;
use roost_model::time::Timestamp;
use roost_rpc::{HeldBackTool, ServiceDetails, ServiceInterface, ServiceRecord, ServiceSummary};
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use crate::ago::ago;
use crate::cmd::audit;
use crate::screen::one_line;
use crate::style::Style;
use crate::table::{self, Overflow};

pub(super) fn list(all: &[ServiceSummary]) -> io::Result<String> {
    if all.is_empty() {
        return Ok(
            "No services yet; `roost services add-stdio -- COMMAND` or `add-remote --endpoint URL` adds one.".into()
        );
    }
    let rows = all.iter().map(|one| {
        let tools = match &one.interface {
            None => "-".into(),
            Some(interface) if interface.held_back > 0 => {
                format!("{} ({} held back)", interface.tools, interface.held_back)
            }
            Some(interface) => interface.tools.to_string(),
        };
        let note = one.last_error.clone().or_else(|| one.display_name.clone()).unwrap_or_default();
        let state = word(&one.lifecycle);
        [one.namespace.clone(), state, word(&one.health), tools, one.service_id.to_string(), note]
    });
    let mut out = Vec::new();
    let heads = ["SERVICE", "STATE", "HEALTH", "TOOLS", "ID", "NOTE"];
    table::write(&mut out, Style::for_stdout(), Overflow::LastBelow, heads, &rows.collect::<Vec<_>>())?;
    if all.iter().any(|one| one.interface.as_ref().is_some_and(|interface| interface.held_back > 0)) {
        writeln!(out, "Tools are held back until you approve them: roost services approve SERVICE")?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A state in small letters.
fn word(state: &impl std::fmt::Debug) -> String {
    format!("{state:?}").to_lowercase()
}

/// What came of a command.
pub(super) fn outcome(service: &ServiceRecord) -> String {
    let (name, runtime) = (one_line(&service.manifest.metadata.module), &service.runtime);
    let why = runtime.last_error.as_deref().map(one_line).unwrap_or_default();
    let logs = format!("`roost services logs {name}` shows what it said");
    match runtime.lifecycle {
        Lifecycle::Running => {
            let tools = service.interface_snapshot.as_ref().map_or(0, |interface| interface.tools.len());
            let held_back = match service.held_back.len() {
                0 => String::new(),
                count => format!(" {count} of them wait for `roost services approve {name}`."),
            };
            format!("{name} runs, with {tools} {}.{held_back}", if tools == 1 { "tool" } else { "tools" })
        }
        Lifecycle::Crashed if runtime.next_attempt_at.is_some() => {
            format!("{name} failed and is tried again: {why}. {logs}.")
        }
        Lifecycle::Crashed => format!("{name} failed: {why}. {logs}."),
        Lifecycle::Quarantined => {
            format!("{name} failed too often: {why}. {logs}; `roost services unquarantine {name}` lets it start again.")
        }
        Lifecycle::Registered => format!("{name} is added; `roost services start {name}` starts it."),
        state => format!("{name} is {}.", word(&state)),
    }
}

pub(super) fn record(service: &ServiceRecord) -> String {
    let (runtime, now) = (&service.runtime, Timestamp::now());
    let mut text = outcome(service);
    let mut line = |name: &str, value: String| _ = write!(text, "\n  {name:<10} {}", one_line(&value));
    line("id", service.service_id.to_string());
    line("manifest", format!("version {}", service.version));
    line("health", word(&runtime.health));
    line("restarts", runtime.restart_count.to_string());
    if let Some(answered) = runtime.last_heartbeat_at {
        line("answered", ago(answered, now));
    }
    if let Some(error) = &runtime.last_error {
        line("error", error.clone());
    }
    for tool in &service.held_back {
        line("held back", format!("{} ({})", tool.tool, word(&tool.state)));
    }
    text
}

pub(super) fn interface(interface: &ServiceInterface) -> io::Result<String> {
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let listed = [
        ("tool", &interface.tools, "name"),
        ("resource", &interface.resources, "uri"),
        ("template", &interface.resource_templates, "uriTemplate"),
        ("prompt", &interface.prompts, "name"),
    ];
    let rows = listed.into_iter().flat_map(|(kind, items, key)| {
        items.iter().map(move |item| [text(item, key), kind.to_owned(), text(item, "description")])
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return Ok("It offers nothing, or was not started yet.".into());
    }
    let mut out = Vec::new();
    table::write(&mut out, Style::for_stdout(), Overflow::Cut, ["NAME", "KIND", "DESCRIPTION"], &rows)?;
    for problem in &interface.problems {
        writeln!(out, "{}", one_line(problem))?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

pub(super) fn details(details: &ServiceDetails) -> io::Result<String> {
    let mut text = record(&details.service);
    _ = write!(text, "\n\n{}", interface(&details.interface)?);
    let changes = changes(&details.service.held_back);
    if !changes.is_empty() {
        _ = write!(text, "\n{changes}");
    }
    _ = write!(text, "\nLog\n");
    details.logs.iter().for_each(|line| _ = writeln!(text, "  {}", one_line(line)));
    _ = write!(text, "\nWhat happened last\n");
    details.events.iter().for_each(|event| _ = writeln!(text, "  {}", audit::line(event)));
    Ok(text)
}

/// What was approved, with what changed.
pub(super) fn approved(tools: &[HeldBackTool]) -> String {
    match tools {
        [] => "Nothing was held back.".into(),
        tools => format!("{}{} tools are offered as they are now.", changes(tools), tools.len()),
    }
}

/// What changed of each tool, line by line.
fn changes(tools: &[HeldBackTool]) -> String {
    let style = Style::for_stdout();
    let pretty = |definition: &Map<String, Value>| serde_json::to_string_pretty(definition).unwrap_or_default();
    let mut text = String::new();
    for tool in tools {
        _ = writeln!(text, "{} ({})", one_line(&tool.tool), word(&tool.state));
        let (before, after) = (tool.approved.as_ref().map(pretty).unwrap_or_default(), pretty(&tool.current));
        for change in TextDiff::from_lines(&before, &after).iter_all_changes() {
            let line = one_line(change.value().trim_end_matches('\n'));
            _ = match change.tag() {
                ChangeTag::Delete => writeln!(text, "{}", style.red(format!("  - {line}"))),
                ChangeTag::Insert => writeln!(text, "{}", style.green(format!("  + {line}"))),
                ChangeTag::Equal => writeln!(text, "    {line}"),
            };
        }
    }
    text
}
