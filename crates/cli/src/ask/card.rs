//! Shows a tool call to the person who decides about it: what will run, not what the agent calls it.

use std::path::{Component, Path};

use roost_model::payload::{ApprovalRequestedPayload, QuestionField, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolClass;
use roost_rpc::call::{ToolCallView, other_title};
use serde_json::{Map, Value};

use super::change::changes;
use crate::screen::{exact, one_line};
use crate::style::Style;

/// Lines shown of a call at first.
const LINES: usize = 40;
/// Lines shown of a call that nobody is asked about.
const GLANCE: usize = 10;
/// Characters shown of a line at first.
const COLUMNS: usize = 400;

const COMMAND: [&str; 4] = ["command", "cmd", "script", "commandLine"];
const URL: [&str; 3] = ["url", "uri", "href"];

/// What a change to a file is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against<'a> {
    /// The files as they are now, in this working directory.
    Files(&'a Path),
    /// With nothing, because the files may have changed since the question was asked.
    Nothing,
}

/// How much of a call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The first [`GLANCE`] lines, of a call that nobody is asked about.
    Glance,
    /// The first [`LINES`] lines.
    Beginning,
    All,
}

/// A call whose content is shown: one that waits, or one that was decided without a question.
#[derive(Clone, Copy)]
pub(crate) struct CallContent<'a> {
    call: ToolCallView<'a>,
    title: Option<&'a str>,
    /// The input is only the beginning of the real one, which was too big for its event.
    is_cut: bool,
}

impl<'a> From<&'a ApprovalRequestedPayload> for CallContent<'a> {
    fn from(asked: &'a ApprovalRequestedPayload) -> Self {
        Self {
            call: ToolCallView::from_approval(asked),
            title: asked.title.as_deref(),
            is_cut: asked.input_ref.is_some(),
        }
    }
}

impl<'a> From<&'a ToolCallRequestedPayload> for CallContent<'a> {
    fn from(wanted: &'a ToolCallRequestedPayload) -> Self {
        let call = ToolCallView { name: &wanted.name, kind: wanted.kind, input: &wanted.input };
        Self { call, title: wanted.title.as_deref(), is_cut: wanted.input_ref.is_some() }
    }
}

/// The text that shows a call.
pub(crate) struct Card {
    pub(crate) text: String,
    /// True if lines or parts of lines were left out.
    pub(crate) cut: bool,
}

/// Shows a call that waits: its tool, and everything that it would do. Reads the files that it would change, so it may
/// take a while.
pub(crate) fn card(style: Style, asked: &ApprovalRequestedPayload, cwd: &Path, extent: Extent) -> Card {
    let Card { text: body, cut } = content(style, asked.into(), Against::Files(cwd), extent);
    let rule = asked.rule.as_ref().map(|rule| format!(" · rule {}", one_line(rule))).unwrap_or_default();
    let title = title(asked).map(|title| format!(" · the agent calls it \"{title}\"")).unwrap_or_default();
    let name = style.bold(one_line(&asked.name));
    let is_dangerous = asked.class == Some(ToolClass::Dangerous);
    let mark = if is_dangerous { style.red("?").to_string() } else { style.yellow("?").to_string() };
    // The rule of the mode says so itself; one of the user's or the runtime's settings does not.
    let is_told = asked.rule.as_deref() == Some("permission_mode:dangerous");
    let danger = if is_dangerous && !is_told { format!(" · {}", style.red("dangerous")) } else { String::new() };
    let mut text = format!("{mark} {name}{danger}{}\n{body}", style.dim(rule + &title));
    if let Some(offer) = &asked.offer {
        let covers = format!("s and w would also cover {}", one_line(&offer.offer_text()));
        text.push_str(&format!("  {}\n", style.dim(covers)));
    }
    Card { text, cut }
}

/// The agent's own title of the call, if it says more than the call itself.
fn title(asked: &ApprovalRequestedPayload) -> Option<String> {
    let shown = ToolCallView::from_approval(asked).display();
    other_title(&shown, asked.title.as_deref(), &asked.name).map(|title| one_line(title).into_owned())
}

/// What a call would do, line by line: the command, the folder, the change, the address, and whatever else is in its
/// input.
pub(crate) fn content(style: Style, shown: CallContent<'_>, against: Against<'_>, extent: Extent) -> Card {
    let body: Vec<_> = body(shown, against).iter().flat_map(|line| lines(line)).collect();
    let mut text = String::new();
    let mut cut = false;
    let shown = match extent {
        Extent::Glance => GLANCE.min(body.len()),
        Extent::Beginning => LINES.min(body.len()),
        Extent::All => body.len(),
    };
    for line in &body[..shown] {
        let short: String = match extent {
            Extent::All => line.clone(),
            Extent::Glance | Extent::Beginning => line.chars().take(COLUMNS).collect(),
        };
        let more = if short.len() < line.len() { "…" } else { "" };
        cut |= short.len() < line.len();
        text.push_str(&format!("  {}{more}\n", painted(style, &short)));
    }
    if shown < body.len() {
        cut = true;
        text.push_str(&format!("  {}\n", style.dim(format!("… {} more lines", body.len() - shown))));
    }
    Card { text, cut }
}

/// Shows one field of a question.
pub(super) fn field(style: Style, field: &QuestionField) -> String {
    let needed = if field.required { "" } else { " (may be left empty)" };
    let mut text = format!("  {}{}\n", one_line(&field.label), style.dim(needed));
    for (number, option) in (1..).zip(&field.options) {
        let more = option.description.as_deref().map(|more| format!(" - {}", one_line(more)));
        let (label, more) = (one_line(&option.label), more.unwrap_or_default());
        text.push_str(&format!("  {}) {label}{}\n", style.bold(number), style.dim(more)));
    }
    text
}

fn body(CallContent { call, title, is_cut }: CallContent<'_>, against: Against<'_>) -> Vec<String> {
    if is_cut {
        let warning = "(only the beginning of it could be read; the rest is missing or was changed)";
        return vec![warning.into(), pretty(call.input)];
    }
    let Value::Object(input) = call.input else { return vec![pretty(call.input)] };
    let mut shown = Vec::new();
    if input.get("title").is_some_and(|field| field.as_str() == title) {
        shown.push("title");
    }
    let mut body = Vec::new();
    if let Some((key, command)) = COMMAND.iter().find_map(|key| Some((*key, command(input.get(*key)?)?))) {
        body.push(format!("$ {}", command.replace('\n', "\n> ")));
        shown.push(key);
        // Right below the command: the same command does another thing in another folder.
        if let Some(folder) = call.folder()
            && let Some((key, _)) = input.iter().find(|(_, value)| value.as_str() == Some(folder))
        {
            body.push(format!("in {folder}{}", elsewhere(against, folder)));
            shown.push(key);
        }
    } else if may_change(call.kind)
        && let Some((changes, keys)) = changes(input)
    {
        body.extend(changes.iter().flat_map(|change| match against {
            Against::Files(cwd) => change.diff(cwd),
            Against::Nothing => change.alone(),
        }));
        shown.extend(keys);
    }
    if let Some(host) = URL.iter().find_map(|key| host(input.get(*key)?.as_str()?)) {
        body.push(format!("host: {host}"));
    }
    body.extend(rest(input, &shown));
    body
}

/// A warning if a folder is not the session's own or below it.
fn elsewhere(against: Against<'_>, folder: &str) -> &'static str {
    match against {
        Against::Files(cwd)
            if !cwd.join(folder).starts_with(cwd)
                || Path::new(folder).components().any(|part| part == Component::ParentDir) =>
        {
            " (outside of the workspace)"
        }
        _ => "",
    }
}

/// The fields of an input that were not shown in a better way, so that nothing of it is left out.
fn rest<'a>(input: &'a Map<String, Value>, shown: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let fields = input.iter().filter(move |(key, value)| !shown.contains(&key.as_str()) && says_something(value));
    // A name with a line end in it would look like two fields.
    fields.map(|(key, value)| (one_line(key), value)).map(|(key, value)| match value {
        Value::String(text) if text.contains('\n') => format!("{key}:\n{text}"),
        Value::String(text) => format!("{key}: {text}"),
        value => format!("{key}: {}", pretty(value)),
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn may_change(kind: Option<ToolKind>) -> bool {
    use ToolKind as Kind;
    !matches!(kind, Some(Kind::Read | Kind::Search | Kind::Execute | Kind::Think | Kind::Fetch | Kind::SwitchMode))
}

/// A command as a shell would be given it.
fn command(value: &Value) -> Option<String> {
    match value {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(|word| word.as_str().map(quoted)).collect();
            words.map(|words| words.join(" "))
        }
        _ => None,
    }
}

fn quoted(word: &str) -> String {
    let plain = |at: char| at.is_ascii_alphanumeric() || "-_./=:,@%+".contains(at);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The host of an address: what stands before an `@` only looks like one.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    Some(authority.rsplit('@').next().unwrap_or(authority))
}

fn lines(text: &str) -> Vec<String> {
    exact(text).split('\n').map(str::to_owned).collect()
}

fn painted(style: Style, line: &str) -> String {
    match line.chars().next() {
        Some('+') => style.green(line).to_string(),
        Some('-') => style.red(line).to_string(),
        Some('@') => style.dim(line).to_string(),
        Some('$' | '>') => style.bold(line).to_string(),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;
