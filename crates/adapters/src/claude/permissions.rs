//! Reads the permission rules of Claude Code's settings (`permissions.allow`, `ask` and `deny`) as a layer of Roost's
//! policy.
//!
//! Roost reads the files itself, because the CLI does not say which of its rules would have allowed a call: once Roost's
//! hook has answered `ask`, they count no more. Its denials it applies itself, but not in every version. Denials count from
//! every file. What a project's files allow counts only if a person agreed to exactly these files.

use std::path::Path;
use std::sync::Arc;

use roost_engine::adapter::{
    Pattern, PermissionEffect, PermissionRule, PermissionScope, RuntimePermissions, ToolClass,
};
use serde_json::{Map, Value};

use super::settings_files::{SettingsScope, read_settings};
use super::sources::SourcePaths;
use crate::source_files::how_to_trust;

/// How many rules a notice names.
const NAMED_RULES: usize = 6;

/// The tools that a rule about `Read` covers.
const READS: &str = "{Read,Glob,Grep,LS,NotebookRead}";
/// The tools that a rule about `Edit` covers.
const EDITS: &str = "{Edit,MultiEdit,Write,NotebookEdit}";

/// The rules of the loaded settings, and what people should know about those that do not count. Blocks on the disk.
pub(super) fn read_permissions(
    paths: &SourcePaths,
    session: &Map<String, Value>,
) -> (Arc<RuntimePermissions>, Vec<String>) {
    let (documents, unreadable) = read_settings(paths, session);
    let mut notices: Vec<_> = unreadable
        .iter()
        .map(|path| format!("{} is no JSON object, so its permissions do not count", path.display()))
        .collect();
    let (mut rules, mut unusable) = (Vec::new(), Vec::new());
    for document in &documents {
        let allowed: Vec<_> = document.texts(&["permissions", "allow"]).collect();
        if let (false, false, Some((path, contents))) = (document.is_agreed, allowed.is_empty(), &document.file) {
            let (path_text, allowed) = (path.display(), list(&allowed));
            let how = how_to_trust(path, contents);
            notices.push(format!("{path_text} would let run unasked: {allowed}; Roost asks as before; {how}"));
        }
        let lists = [
            (PermissionEffect::Deny, "deny", true),
            (PermissionEffect::Ask, "ask", true),
            (PermissionEffect::Allow, "allow", document.is_agreed),
        ];
        for (effect, name, counts) in lists {
            for text in document.texts(&["permissions", name]).filter(|_| counts) {
                let label = format!("{}:{name} {text}", document.scope.label());
                match translate(text, effect, document.scope, paths) {
                    Some(scopes) => rules.extend(scopes.into_iter().map(|target| target.rule(&label, effect))),
                    None => unusable.push(label),
                }
            }
        }
    }
    let (permissions, not_compiled) = RuntimePermissions::new(&rules);
    unusable.extend(not_compiled);
    unusable.dedup();
    if !unusable.is_empty() {
        let unusable: Vec<_> = unusable.iter().map(String::as_str).collect();
        notices.push(format!("Roost cannot use these rules of Claude Code's settings: {}", list(&unusable)));
    }
    (Arc::new(permissions), notices)
}

/// The first few of these texts for people, and how many more there are.
pub(super) fn list(texts: &[&str]) -> String {
    let named = texts.iter().take(NAMED_RULES).copied().collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(NAMED_RULES) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What a rule is about.
struct RuleTarget {
    tool: Option<String>,
    class: Option<ToolClass>,
    scope: PermissionScope,
}

impl RuleTarget {
    fn tool(tool: impl Into<String>, scope: PermissionScope) -> Self {
        Self { tool: Some(tool.into()), class: None, scope }
    }

    fn rule(self, label: &str, effect: PermissionEffect) -> PermissionRule {
        let Self { tool, class, scope } = self;
        PermissionRule { label: label.to_owned(), effect, tool, class, scope }
    }
}

/// What a rule in the CLI's words is about; `None` if that cannot be said in the policy's. Empty for a rule that allows
/// what is never asked about.
fn translate(
    text: &str,
    effect: PermissionEffect,
    scope: SettingsScope,
    paths: &SourcePaths,
) -> Option<Vec<RuleTarget>> {
    let (tool, specifier) = parse(text)?;
    let allows = effect == PermissionEffect::Allow;
    let Some(specifier) = specifier.filter(|specifier| specifier != "*") else {
        // A tool that is only a wildcard would be every tool.
        let is_too_wide = allows && tool.starts_with('*');
        return (!is_too_wide).then(|| vec![RuleTarget::tool(tools(tool), PermissionScope::Everything)]);
    };
    match tool {
        "Bash" => {
            let text = specifier.strip_suffix(":*").map_or_else(|| specifier.clone(), |start| format!("{start} *"));
            Some(vec![RuleTarget::tool(tool, PermissionScope::Text(text))])
        }
        "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Glob" | "Grep" => {
            let globs = file_globs(&specifier, scope, paths)?;
            let targets = globs.into_iter().flat_map(|glob| file_targets(tool, allows, Pattern::File(glob)));
            Some(targets.collect())
        }
        "WebFetch" => {
            let host = specifier.strip_prefix("domain:")?.to_owned();
            Some(vec![RuleTarget::tool(tool, PermissionScope::Pattern(Pattern::Host(host)))])
        }
        // Skills and agents are never asked about.
        "Skill" | "Agent" | "Task" if allows => Some(Vec::new()),
        _ if allows => None,
        _ => Some(vec![RuleTarget::tool(tools(tool), PermissionScope::Text(specifier))]),
    }
}

/// The tool and the specifier of a rule like `Bash(npm test:*)`.
fn parse(text: &str) -> Option<(&str, Option<String>)> {
    let text = text.trim();
    let (tool, specifier) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
    };
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '*');
    let specifier = specifier.map(|text| text.trim().replace("\\(", "(").replace("\\)", ")"));
    (!tool.is_empty() && tool.chars().all(is_usual)).then(|| (tool, specifier.filter(|text| !text.is_empty())))
}

/// A glob over the names of the tools that a rule without a specifier covers.
fn tools(name: &str) -> String {
    match name {
        "Read" => READS.into(),
        "Edit" => EDITS.into(),
        "Task" | "Agent" => "{Task,Agent}".into(),
        // A whole tool server.
        _ if name.strip_prefix("mcp__").is_some_and(|server| !server.contains("__") && !server.contains('*')) => {
            format!("{{{name},{name}__*}}")
        }
        _ => name.into(),
    }
}

/// The calls that a rule about files covers. What denies or asks covers every tool that names the file: of a shell line
/// nobody can tell which of its files it only reads.
fn file_targets(tool: &str, allows: bool, pattern: Pattern) -> Vec<RuleTarget> {
    let scope = PermissionScope::Pattern(pattern);
    let is_read = matches!(tool, "Read" | "Glob" | "Grep");
    match (is_read, allows) {
        // Reading is never asked about.
        (true, true) => Vec::new(),
        (true, false) => vec![RuleTarget { tool: None, class: None, scope }],
        (false, true) if tool == "Edit" => vec![RuleTarget::tool(EDITS, scope)],
        (false, true) => vec![RuleTarget::tool(tool, scope)],
        (false, false) => [ToolClass::Write, ToolClass::Network, ToolClass::Dangerous]
            .map(|class| RuleTarget { tool: None, class: Some(class), scope: scope.clone() })
            .into(),
    }
}

/// The globs, absolute or relative to the workspace, for a path pattern in the CLI's words, which are those of
/// `.gitignore`: `//` begins an absolute path, `~/` one in the home, `/` one in the folder of the settings, and a name
/// alone stands for files anywhere below the workspace. Each stands for everything beneath it, too.
fn file_globs(pattern: &str, scope: SettingsScope, paths: &SourcePaths) -> Option<Vec<String>> {
    let beneath = |folder: &Path, rest: &str| format!("{}/{rest}", folder.display());
    let glob = if pattern.starts_with('!') {
        return None;
    } else if let Some(rest) = pattern.strip_prefix("//") {
        format!("/{rest}")
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        beneath(&paths.home, rest)
    } else if let Some(rest) = pattern.strip_prefix('/') {
        if scope == SettingsScope::User { beneath(&paths.config, rest) } else { rest.to_owned() }
    } else if let Some(rest) = pattern.strip_prefix("./") {
        rest.to_owned()
    } else if pattern.trim_end_matches('/').contains('/') {
        pattern.to_owned()
    } else {
        format!("**/{pattern}")
    };
    let glob = glob.trim_end_matches('/');
    if glob.is_empty() {
        return Some(vec!["**".into()]);
    }
    let whole = (!glob.ends_with("**")).then(|| format!("{glob}/**"));
    Some([Some(glob.to_owned()), whole].into_iter().flatten().collect())
}
