//! `roost approvals`: what waits for an answer, and the answer.

use std::collections::BTreeMap;
use std::path::Path;

use roost_client::Client;
use roost_model::approval::{ApprovalScope, Pending, PendingAsk};
use roost_model::time::Timestamp;
use roost_rpc::call::ToolCallView;
use roost_rpc::{PendingParams, PendingRequest, PermissionDecision, PermissionRespondParams, SessionParams, method};

use crate::ago::ago;
use crate::ask::{Asker, Extent, QuestionAnswer, Reaction, UserResponse, card, explain, parse_field, question};
use crate::blocking::blocking;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::keyboard::Keyboard;
use crate::reading::RecordReader;
use crate::screen::{self, one_line};
use crate::style::Style;
use crate::watch::artifact;

const EXAMPLES: &str = "\
Examples:
  roost approvals                                        list what waits for an answer, oldest first
  roost approvals show tc_12                             show one in full, and why you are asked
  roost approvals --json                                 print each as one line of JSON
  roost approvals answer                                 answer one after the other, at a terminal
  roost approvals answer tc_12                           answer this one, at a terminal
  roost approvals answer tc_12 allow                     allow it once
  roost approvals answer tc_12 allow --scope session     allow similar calls for the rest of the session
  roost approvals answer tc_12 deny --reason \"too risky\" deny it; the agent reads the reason
  roost approvals answer q_3 --answer 2                  answer a question with its second choice
  roost approvals answer q_3 --answer \"neither\"          answer a question in your own words";

/// List or answer what agents are waiting for: approvals and questions
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<ApprovalsAction>,
    /// Print each as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum ApprovalsAction {
    /// List what waits for an answer
    List {
        /// Print each as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an approval or a question in full, and why you are asked
    Show {
        /// Its id, as shown by `roost approvals`, or the beginning of it
        id: String,
    },
    /// Answer an approval or a question
    Answer(AnswerArgs),
}

#[derive(clap::Args)]
struct AnswerArgs {
    /// Its id, as shown by `roost approvals`, or the beginning of it [default: all, one after the other]
    id: Option<String>,
    /// Whether the call may run; deny also declines a question [default: ask at this terminal]
    decision: Option<DecisionArg>,
    /// The answer to a question: the number or name of a choice, or text; repeat it for each field, in order
    #[arg(long, value_name = "TEXT", requires = "id", conflicts_with = "decision")]
    answer: Vec<String>,
    /// Which calls the answer covers
    #[arg(long, value_name = "SCOPE", default_value = "once", requires = "decision")]
    scope: Scope,
    /// The reason, which the agent reads
    #[arg(long, value_name = "TEXT", requires = "decision")]
    reason: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum DecisionArg {
    Allow,
    Deny,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Scope {
    /// Only this call.
    Once,
    /// Similar calls in this session.
    Session,
    /// Similar calls in this workspace.
    Workspace,
    /// Similar calls everywhere.
    Always,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    match args.action {
        Some(ApprovalsAction::Answer(answer)) => {
            let client = connect::running(context).await?;
            match (&answer.id, answer.decision) {
                (Some(id), None) if !answer.answer.is_empty() => {
                    answer_question(&find(&client, id).await?, &answer.answer, &client).await
                }
                (Some(id), Some(decision)) => give(&find(&client, id).await?, decision, &answer, &client).await,
                _ => ask(answer.id.as_deref(), &client).await,
            }
        }
        Some(ApprovalsAction::Show { id }) => show(&id, &connect::running(context).await?).await,
        Some(ApprovalsAction::List { json }) => list(json, context).await,
        None => list(args.json, context).await,
    }
}

async fn list(json: bool, context: &Context) -> Result<Exit, Error> {
    let (pending, sessions) = match RecordReader::open(context, "roost approvals").await {
        Err(Error::Log(roost_log::Error::NotFound { .. })) => (Vec::new(), Vec::new()),
        reading => {
            let reading = reading?;
            (reading.pending().await?, reading.sessions().await?)
        }
    };
    if json {
        pending.iter().try_for_each(screen::print_json)?;
        return Ok(Exit::Completed);
    }
    let length = find::unique_length(pending.iter().map(|one| &one.session_id));
    let style = Style::for_stdout();
    // Changes are compared with files, which may take a while.
    let text = blocking(move || {
        let texts = pending.iter().map(|one| {
            let cwd = sessions.iter().find(|session| session.session_id == one.session_id);
            entry(style, one, cwd.map_or("", |session| &session.cwd), length, Extent::Beginning)
        });
        Ok(texts.collect::<Vec<_>>().join("\n"))
    })
    .await?;
    screen::print(if text.is_empty() { "Nothing waits for an answer." } else { &text })?;
    Ok(Exit::Completed)
}

/// The text about one request: its id, session and age, then what is asked.
fn entry(style: Style, pending: &Pending, cwd: &str, length: usize, extent: Extent) -> String {
    let session: String = pending.session_id.as_str().chars().take(length).collect();
    let since = ago(pending.asked_at, Timestamp::now());
    let id = one_line(pending.id());
    let place = style.dim(format!("session {session} in {} · {since}", one_line(cwd)));
    let what = match &pending.ask {
        PendingAsk::Approval(asked) => {
            let card = card(style, asked, Path::new(cwd), extent);
            match card.cut {
                true => {
                    card.text + &format!("  {}\n", style.dim(format!("`roost approvals show {id}` shows all of it")))
                }
                false => card.text,
            }
        }
        PendingAsk::Question(asked) => question(style, asked),
    };
    format!("{} {place}\n{what}", style.bold(&id))
}

async fn show(id: &str, client: &Client) -> Result<Exit, Error> {
    let request = find(client, id).await?;
    let cwd = folder(client, &request.session_id).await?;
    let pending = with_full_input(client, request.pending).await;
    let style = Style::for_stdout();
    let text = blocking(move || {
        let all = entry(style, &pending, &cwd, usize::MAX, Extent::All);
        Ok(match &pending.ask {
            PendingAsk::Approval(asked) => all + &explain(style, asked),
            PendingAsk::Question(_) => all,
        })
    })
    .await?;
    screen::print(&text)?;
    Ok(Exit::Completed)
}

/// Asks the person at the terminal about one request, or about all of them in turn.
async fn ask(id: Option<&str>, client: &Client) -> Result<Exit, Error> {
    if !Keyboard::is_there() {
        return Err(Error::NoDecision);
    }
    let requests = match id {
        Some(id) => vec![find(client, id).await?],
        None => client.call::<method::PermissionPending>(PendingParams::default()).await?.requests,
    };
    if requests.is_empty() {
        screen::print("Nothing waits for an answer.")?;
    }
    let mut keyboard = Keyboard::open(None).map_err(Error::Start)?;
    for request in requests {
        let cwd = folder(client, &request.session_id).await?;
        let mut asker = Asker::new(Style::for_stdout(), Path::new(&cwd));
        asker.add(with_full_input(client, request.pending).await);
        let begun;
        (asker, begun) = blocking(move || {
            let begun = asker.begin();
            Ok((asker, begun))
        })
        .await?;
        screen::print(&begun.unwrap_or_default())?;
        keyboard.forget();
        while let Some(prompt) = asker.prompt() {
            screen::prompt(&prompt)?;
            let typed = keyboard.line().await;
            let reaction;
            (asker, reaction) = blocking(move || {
                let reaction = asker.answer(typed);
                Ok((asker, reaction))
            })
            .await?;
            match reaction {
                Some(Reaction::Respond(response)) => match response.send(client, &request.session_id).await {
                    // Somebody else was faster, or it is over.
                    Err(roost_client::Error::Fault(fault)) => screen::print(&format!("  {fault}"))?,
                    answered => answered?,
                },
                Some(Reaction::Say(lines)) => screen::print(&lines)?,
                None => {}
            }
        }
    }
    Ok(Exit::Completed)
}

/// The working directory of a session.
async fn folder(client: &Client, session: &str) -> Result<String, Error> {
    let params = SessionParams { session_id: session.into(), agent_type: None };
    Ok(client.call::<method::SessionGet>(params).await?.project_path)
}

/// Replaces an input that was too big for its event by the full one, if the artifact is still there.
async fn with_full_input(client: &Client, mut pending: Pending) -> Pending {
    if let PendingAsk::Approval(asked) = &mut pending.ask
        && let Some(input) = &asked.input_ref
        && let Ok(bytes) = artifact(client, &input.artifact_id).await
        && let Ok(input) = serde_json::from_slice(&bytes)
    {
        (asked.input, asked.input_ref) = (input, None);
    }
    pending
}

/// Sends the decision that was given on the command line.
async fn give(
    request: &PendingRequest,
    decision: DecisionArg,
    answer: &AnswerArgs,
    client: &Client,
) -> Result<Exit, Error> {
    let call = match &request.pending.ask {
        PendingAsk::Approval(asked) => Some(&asked.identity),
        PendingAsk::Question(_) => None,
    };
    let params = PermissionRespondParams {
        tool_use_id: request.tool_use_id.clone(),
        decision: match decision {
            DecisionArg::Allow => PermissionDecision::Allow,
            DecisionArg::Deny => PermissionDecision::Deny,
        },
        scope: Some(match answer.scope {
            Scope::Once => ApprovalScope::Once,
            Scope::Session => ApprovalScope::Session,
            Scope::Workspace => ApprovalScope::Workspace,
            Scope::Always => ApprovalScope::Always,
        }),
        session_id: Some(request.session_id.clone()),
        reason: answer.reason.clone(),
        updated_input: None,
        attempt: call.map(|call| call.attempt),
        input_hash: call.map(|call| call.input_hash.clone()),
        key: None,
    };
    client.call::<method::PermissionRespond>(params).await?;
    print_answered(request)
}

/// Sends the answers to the fields of a question that were given on the command line.
async fn answer_question(request: &PendingRequest, texts: &[String], client: &Client) -> Result<Exit, Error> {
    let PendingAsk::Question(asked) = &request.pending.ask else {
        return Err(Error::NotAQuestion(request.tool_use_id.clone()));
    };
    let wrong = |what: &str, why: String| Error::WrongAnswer { what: what.to_owned(), why };
    if texts.len() > asked.fields.len() {
        let why = format!("it has {} fields, and there are {} answers", asked.fields.len(), texts.len());
        return Err(wrong(&asked.message, why));
    }
    let mut given = BTreeMap::new();
    let texts = texts.iter().map(String::as_str).chain(std::iter::repeat(""));
    for (field, text) in asked.fields.iter().zip(texts) {
        let values = parse_field(field, text).map_err(|why| wrong(&field.label, why))?;
        if !values.is_empty() {
            given.insert(field.id.clone(), values);
        }
    }
    let question = asked.question_id.clone();
    UserResponse::Question { question, answer: QuestionAnswer::Given(given) }.send(client, &request.session_id).await?;
    print_answered(request)
}

fn print_answered(request: &PendingRequest) -> Result<Exit, Error> {
    let what = match &request.pending.ask {
        PendingAsk::Approval(asked) => ToolCallView::from_approval(asked).display(),
        PendingAsk::Question(asked) => asked.message.clone(),
    };
    screen::print(&format!("Answered: {}.", one_line(what.lines().next().unwrap_or_default())))?;
    Ok(Exit::Completed)
}

/// The request with this id, or the only one whose id begins like this.
async fn find(client: &Client, id: &str) -> Result<PendingRequest, Error> {
    let mut found = client.call::<method::PermissionPending>(PendingParams::default()).await?.requests;
    match found.iter().position(|one| one.tool_use_id == id) {
        Some(exact) => return Ok(found.swap_remove(exact)),
        None => found.retain(|one| !id.is_empty() && one.tool_use_id.starts_with(id)),
    }
    if found.len() > 1 {
        let found = found.into_iter().map(|one| one.tool_use_id).collect();
        return Err(Error::AmbiguousAsk { id: id.into(), found });
    }
    found.pop().ok_or_else(|| Error::NotWaiting(id.into()))
}
