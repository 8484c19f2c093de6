//! What `?` says: what each key does, and why a call is asked about at all.

use roost_model::mode::Mode;
use roost_model::pattern::CallPattern;
use roost_model::payload::ApprovalRequestedPayload;

use crate::screen::one_line;
use crate::style::Style;
use crate::wrap::wrapped;

/// Columns before the words, and before what a key does.
const INDENT: usize = 2;
const KEY_INDENT: usize = 7;

/// Explains a call that waits, in whole lines of this width at most.
pub(crate) fn explain(style: Style, asked: &ApprovalRequestedPayload, width: usize) -> String {
    let mut keys = vec![("y", "it runs, this once".to_owned())];
    match &asked.offer {
        Some(offer) => {
            let covers = one_line(&offer.offer_text()).into_owned();
            keys.push(("s", format!("it runs, and {covers} too, unasked until this session ends")));
            keys.push(("w", format!("it runs, and {covers} too, unasked in every session of this workspace")));
        }
        None => keys.push(("s, w", "not for this one: no other call is enough like it".into())),
    }
    if asked.offer.as_ref().is_some_and(CallPattern::is_about_commands) {
        let parts = "a longer line runs, too, if every other command of it only reads or is covered as well";
        keys.push(("", parts.into()));
        keys.push(("", "`roost rules` lists what is remembered, and removes it".into()));
    }
    keys.push(("v", "shows all of it".into()));
    keys.push(("n", "it does not run; the agent reads why if you say so: n use git mv".into()));
    let indented = |text: &str, indent: usize| {
        let between = format!("\n{:indent$}", "");
        wrapped(text, width.saturating_sub(indent)).join(&between)
    };
    let keys = keys
        .iter()
        .map(|(key, what)| format!("  {} {}\n", style.bold(format_args!("{key:4}")), indented(what, KEY_INDENT)));
    let reason = indented(&format!("Asked because {}.", why(asked.rule.as_deref())), INDENT);
    let title = "What the agent calls it is its own choice; what stands below that is what runs.";
    format!("{}  {reason}\n  {}\n", keys.collect::<String>(), style.dim(indented(title, INDENT)))
}

/// Why a rule asks, in plain words.
pub(crate) fn why(rule: Option<&str>) -> String {
    let Some(rule) = rule else { return "the agent itself wants to be told (no rule of Roost)".into() };
    let words = match rule.split_once(':') {
        Some(("permission_mode", "dangerous")) => {
            "it is of the class dangerous: it cannot be undone, reaches beyond the workspace, or is not fully understood; \
             every mode but yolo asks about that"
                .into()
        }
        Some(("permission_mode", mode)) => match mode.split(':').next().and_then(|mode| mode.parse().ok()) {
            Some(Mode::Ask) => "the session is in mode ask, and this may change files, run a program or use the network \
                                (class write or network)"
                .into(),
            Some(Mode::AcceptEdits) => "the session is in mode accept-edits, which lets only edits inside the workspace \
                                        run unasked, and this is none"
                .into(),
            Some(mode) => format!("the session is in mode {mode}, which asks about calls like this"),
            None => format!("of the session's mode ({})", one_line(mode)),
        },
        Some(("rule", name)) => format!("the rule \"{}\" of roost.toml says so", one_line(name)),
        Some(("remembered", scope)) => format!("an earlier answer says so ({})", one_line(scope)),
        _ => format!("the rule {} says so", one_line(rule)),
    };
    format!("{words} [rule {}]", one_line(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_asks_is_said_in_plain_words() {
        let table = [
            (Some("permission_mode:dangerous"), "class dangerous"),
            (Some("permission_mode:ask"), "mode ask"),
            (Some("permission_mode:acceptEdits"), "accept-edits"),
            (Some("permission_mode:new\u{202e}"), "of the session's mode (new<U+202E>)"),
            (Some("rule:no-docker"), "the rule \"no-docker\" of roost.toml"),
            (Some("something else"), "the rule something else says so"),
            (None, "no rule of Roost"),
        ];
        for (rule, words) in table {
            assert!(why(rule).contains(words), "{rule:?}: {}", why(rule));
        }
    }
}
