//! `roost rules`: the answers that are remembered, and their end.

use std::io::{self, Write};

use roost_model::approval::ApprovalScope;
use roost_model::pattern::RememberedRule;
use roost_model::time::Timestamp;
use roost_model::tool::PolicyDecision;
use roost_rpc::{ListedRule, NoParams, RuleRemoveParams, method};

use crate::ago::ago;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, Screen, one_line};
use crate::style::Style;
use crate::table::{self, Overflow};

const EXAMPLES: &str = "\
Examples:
  roost rules                            list what runs, or is refused, without asking you
  roost rules --json                     print one line of JSON for each rule
  roost rules remove rule_12ab34cd56ef   remove a rule, so that you are asked again";

/// List or remove remembered answers to approvals
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<RulesAction>,
    /// Print one line of JSON for each rule, or for the removed one
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum RulesAction {
    /// Remove a rule, so that you are asked again
    Remove {
        /// The id of the rule, as shown by `roost rules`
        id: String,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    let rules = client.call::<method::RuleList>(NoParams {}).await?.rules;
    match args.action {
        Some(RulesAction::Remove { id }) => {
            let removed = rules.into_iter().find(|rule| rule.rule_id == id);
            client.call::<method::RuleRemove>(RuleRemoveParams { rule_id: id }).await?;
            match removed {
                Some(rule) if args.json => screen::print_json(&rule)?,
                Some(rule) => {
                    let text = format!("Removed {}: you will be asked about {} again.", rule.rule_id, rule.covers);
                    screen::print(&one_line(&text))?;
                }
                None => {}
            }
        }
        None => print(&mut screen::stdout(), &rules, args.json).map_err(Error::Output)?,
    }
    Ok(Exit::Completed)
}

fn print(out: &mut Screen<impl Write>, rules: &[ListedRule], json: bool) -> io::Result<()> {
    if json {
        return rules.iter().try_for_each(|rule| out.json(rule));
    }
    if rules.is_empty() {
        return writeln!(out, "No answers are remembered. Answer an approval with `s` or `w` to remember one.");
    }
    let now = Timestamp::now();
    let rows = rules.iter().map(|listed| {
        let answer = match listed.rule.decision {
            PolicyDecision::Allow => "runs",
            PolicyDecision::Deny => "refused",
        };
        let since = ago(listed.made_at, now);
        [listed.rule_id.clone(), answer.into(), listed.covers.clone(), place(&listed.rule), since, by(&listed.rule)]
    });
    let heads = ["RULE", "UNASKED", "WHAT", "WHERE", "SINCE", "BY"];
    table::write(out, Style::for_stdout(), Overflow::Wrap, heads, &rows.collect::<Vec<_>>())
}

fn place(rule: &RememberedRule) -> String {
    match (rule.scope, &rule.session_id, &rule.workspace) {
        (ApprovalScope::Session, Some(session), _) => format!("session {session}"),
        (ApprovalScope::Workspace, _, Some(workspace)) => workspace.clone(),
        _ => "everywhere".into(),
    }
}

/// The name of the device that answered, else the door through which the answer came.
fn by(rule: &RememberedRule) -> String {
    let by = rule.by.as_ref();
    let name = by.and_then(|by| by.user_id.as_ref()).map(ToString::to_string);
    name.or_else(|| by?.from.clone()).unwrap_or_else(|| "-".into())
}

#[cfg(test)]
mod tests {
    use roost_model::approval::Answerer;
    use roost_model::pattern::{CallPattern, Touches};

    use super::*;

    #[test]
    fn a_rule_is_listed_with_what_it_covers_where_and_by_whom() {
        let rule = RememberedRule {
            scope: ApprovalScope::Workspace,
            decision: PolicyDecision::Allow,
            pattern: CallPattern {
                touches: Some(Touches::Command(vec!["npm".into(), "test".into(), "*".into()])),
                ..CallPattern::default()
            },
            session_id: None,
            workspace: Some("/home/ada/engine".into()),
            by: Some(Answerer { from: Some("local".into()), ..Answerer::default() }),
        };
        let listed =
            ListedRule { rule_id: "rule_1".into(), covers: rule.pattern.to_string(), made_at: Timestamp::now(), rule };
        let mut text = Vec::new();
        print(&mut Screen::new(&mut text, false), &[listed], false).unwrap();
        let text = String::from_utf8(text).unwrap();
        for word in ["rule_1", "runs", "`npm test …`", "/home/ada/engine", "local"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
