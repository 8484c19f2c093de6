//! The demo agent as a client sees it.

mod host;
mod process;
mod wire;

use agent_client_protocol::v1::schema::{
    CloseSessionRequest, NewSessionRequest, PlanEntryStatus, RequestPermissionOutcome, RequestPermissionResponse,
    SessionUpdate, StopReason, ToolCallStatus,
};
use host::{ALLOWS, Approver, REJECTS, agent_text, host, host_with_forms, picked};

/// The states each tool call went through, in the order of the updates.
fn statuses(updates: &[SessionUpdate]) -> Vec<ToolCallStatus> {
    let status = |update: &SessionUpdate| match update {
        SessionUpdate::ToolCall(call) => Some(call.status),
        SessionUpdate::ToolCallUpdate(update) => update.fields.status,
        _ => None,
    };
    updates.iter().filter_map(status).collect()
}

const RAN: [ToolCallStatus; 3] = [ToolCallStatus::Pending, ToolCallStatus::InProgress, ToolCallStatus::Completed];
const REFUSED: [ToolCallStatus; 2] = [ToolCallStatus::Pending, ToolCallStatus::Failed];

#[tokio::test]
async fn every_well_behaved_keyword_ends_its_turn_and_leaves_the_session_usable() {
    for approver in [ALLOWS, REJECTS] {
        host(approver, async |mut host| {
            for (prompt, ending) in [
                ("", "stubborn.\n"),
                ("hello", "Hello from the demo agent."),
                ("ask", "cannot show a form."),
                ("think", "thinking works."),
                ("plan", "are done."),
                ("slow 0.2", " "),
                ("tools", "has 0 entries."),
                ("bigline 100000", "x\n"),
                ("flood 300 20", "x\n"),
                ("flood 2 0", ""),
                ("drip 3 1000", " ns\n"),
            ] {
                let (reply, updates) = host.turn(prompt).await;
                // What the tour wrote would change what later tools see.
                let _ = std::fs::remove_file(host.cwd.path().join("hello-roost.txt"));
                assert_eq!(reply.unwrap().stop_reason, StopReason::EndTurn, "{prompt}");
                let text = agent_text(&updates);
                assert!(text.ends_with(ending), "{prompt}: {text}");
                let (_, updates) = host.turn("hello").await;
                assert_eq!(agent_text(&updates), "Hello from the demo agent.", "{prompt}");
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_drip_numbers_its_pieces_and_tells_when_each_was_sent() {
    host(ALLOWS, async |mut host| {
        let (_, updates) = host.turn("drip 3 1000 apart").await;
        let text = agent_text(&updates);
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
        let numbers: Vec<_> = words.iter().map(|words| (words[0], words[1], words[4])).collect();
        assert_eq!(numbers, [("drip", "0", "ns"), ("drip", "1", "ns"), ("drip", "2", "ns")]);
        assert!(words.is_sorted_by_key(|words| words[3].parse::<u64>().unwrap()), "{text}");
        let thoughts = updates.iter().filter(|update| matches!(update, SessionUpdate::AgentThoughtChunk(_))).count();
        assert_eq!(thoughts, 3, "one after each piece, to end its message");
    })
    .await;
}

#[tokio::test]
async fn the_tour_writes_its_file_when_allowed() {
    host(ALLOWS, async |mut host| {
        let (_, updates) = host.turn("show me around").await;
        assert_eq!(statuses(&updates), RAN);
        assert!(host.cwd.path().join("hello-roost.txt").exists());
    })
    .await;
}

#[tokio::test]
async fn the_tour_reports_the_tokens_of_the_whole_session() {
    host(REJECTS, async |mut host| {
        let mut used = Vec::new();
        for _ in 0..2 {
            let (reply, updates) = host.turn("tour").await;
            let total = reply.unwrap().meta.unwrap()["usage"]["totalTokens"].as_u64();
            let reported = updates.iter().find_map(|update| match update {
                SessionUpdate::UsageUpdate(usage) => Some(usage.used),
                _ => None,
            });
            used.push((total.unwrap(), reported.unwrap()));
        }
        let [(first, first_used), (second, second_used)] = used[..] else { unreachable!() };
        assert_eq!((first_used, second_used), (first, first + second));
    })
    .await;
}

#[tokio::test]
async fn the_tour_explains_how_to_allow_what_was_rejected() {
    host(REJECTS, async |mut host| {
        let (_, updates) = host.turn("tour").await;
        assert_eq!(statuses(&updates), REFUSED);
        assert!(agent_text(&updates).contains("nothing was written"));
        assert!(agent_text(&updates).contains("roost run --permission-mode yolo"));
        assert!(!host.cwd.path().join("hello-roost.txt").exists());
    })
    .await;
}

#[tokio::test]
async fn edit_writes_the_named_file_when_allowed() {
    host(ALLOWS, async |mut host| {
        let (_, updates) = host.turn("edit note.md").await;
        assert_eq!(statuses(&updates), RAN);
        assert_eq!(agent_text(&updates), "I wrote `note.md`.");
        assert!(host.cwd.path().join("note.md").exists());
    })
    .await;
}

#[tokio::test]
async fn edit_writes_nothing_when_rejected() {
    host(REJECTS, async |mut host| {
        let (reply, updates) = host.turn("edit").await;
        assert_eq!(reply.unwrap().stop_reason, StopReason::EndTurn);
        assert_eq!(statuses(&updates), REFUSED);
        assert!(agent_text(&updates).contains("was not written"));
        assert!(!host.cwd.path().join("demo.txt").exists());
    })
    .await;
}

#[tokio::test]
async fn edit_does_not_leave_the_working_directory() {
    host(ALLOWS, async |mut host| {
        for name in ["../escaped.txt", "/tmp/escaped.txt", "..", "a/b"] {
            let (_, updates) = host.turn(&format!("edit {name}")).await;
            assert!(agent_text(&updates).contains("nothing was written"), "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_reported_as_failed() {
    host(ALLOWS, async |mut host| {
        std::fs::create_dir(host.cwd.path().join("demo.txt")).unwrap();
        let (_, updates) = host.turn("edit").await;
        assert_eq!(statuses(&updates).last(), Some(&ToolCallStatus::Failed));
        assert!(agent_text(&updates).contains("could not be written"));
    })
    .await;
}

#[tokio::test]
async fn allowing_always_means_not_to_be_asked_again() {
    host(Approver::Picks("allow-always"), async |mut host| {
        host.turn("edit").await.0.unwrap();
        host.turn("edit").await.0.unwrap();
        assert_eq!(host.permission_requests.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_was_not_offered_counts_as_a_refusal() {
    host(Approver::Picks("of-course"), async |mut host| {
        let (_, updates) = host.turn("edit").await;
        assert_eq!(statuses(&updates), REFUSED);
    })
    .await;
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_fails_the_turn_and_its_call() {
    host(Approver::Fails, async |mut host| {
        let (reply, updates) = host.turn("edit").await;
        assert_eq!(reply.unwrap_err().code.value(), -32601);
        assert_eq!(statuses(&updates), REFUSED);
        host.turn("hello").await.0.unwrap();
    })
    .await;
}

#[tokio::test]
async fn parallel_asks_for_all_calls_before_any_is_answered() {
    host(Approver::Holds, async |mut host| {
        let reply = host.prompt("parallel 4");
        let answers = async {
            for option in ["allow-once", "reject-once", "allow-once", "reject-once"] {
                let responder = host.held.recv().await.unwrap();
                // Only after the last request has arrived does anybody get an answer.
                while host.permission_requests.len() < 4 {
                    tokio::task::yield_now().await;
                }
                responder.respond(picked(option)).unwrap();
            }
        };
        let (reply, ()) = futures::join!(reply, answers);
        assert_eq!(reply.unwrap().stop_reason, StopReason::EndTurn);
        assert_eq!(agent_text(&host.seen()), "2 tool calls ran, 2 were not allowed.");
    })
    .await;
}

#[tokio::test]
async fn out_shows_all_lines_when_it_completes() {
    host(ALLOWS, async |mut host| {
        let (_, updates) = host.turn("out 1000").await;
        let output = updates.iter().rev().find_map(|update| match update {
            SessionUpdate::ToolCallUpdate(update) => update.fields.raw_output.clone(),
            _ => None,
        });
        let stdout = output.unwrap()["stdout"].as_str().unwrap().to_owned();
        assert_eq!(stdout.lines().count(), 1000);
    })
    .await;
}

#[tokio::test]
async fn a_read_only_tool_runs_without_asking() {
    host(REJECTS, async |mut host| {
        let (_, updates) = host.turn("tools").await;
        assert_eq!(statuses(&updates), RAN);
        assert!(host.permission_requests.is_empty());
    })
    .await;
}

#[tokio::test]
async fn each_step_of_the_plan_is_pending_then_in_progress_then_completed() {
    host(REJECTS, async |mut host| {
        let (_, updates) = host.turn("plan").await;
        let plans: Vec<_> = updates
            .iter()
            .filter_map(|update| match update {
                SessionUpdate::Plan(plan) => Some(&plan.entries),
                _ => None,
            })
            .collect();
        for step in 0..3 {
            let mut history: Vec<_> = plans.iter().map(|plan| plan[step].status.clone()).collect();
            history.dedup();
            assert_eq!(history, [PlanEntryStatus::Pending, PlanEntryStatus::InProgress, PlanEntryStatus::Completed,]);
        }
    })
    .await;
}

#[tokio::test]
async fn thoughts_are_not_part_of_the_answer() {
    host(REJECTS, async |mut host| {
        let (_, updates) = host.turn("think").await;
        let thoughts = updates.iter().filter(|update| matches!(update, SessionUpdate::AgentThoughtChunk(_)));
        assert_eq!(thoughts.count(), 3);
        assert_eq!(agent_text(&updates), "I thought about it: thinking works.");
    })
    .await;
}

#[tokio::test]
async fn ask_repeats_what_the_user_chose() {
    host_with_forms(async |mut host| {
        let (_, updates) = host.turn("ask").await;
        assert_eq!(agent_text(&updates), "You answered: bird = owl.");
    })
    .await;
}

#[tokio::test]
async fn resume_counts_a_restored_transcript() {
    host(REJECTS, async |mut host| {
        host.turn("hello").await.0.unwrap();
        let blocks = vec!["user: hello\nagent: Hello!".into(), "resume".into()];
        host.prompt_blocks(blocks).await.unwrap();
        assert!(
            agent_text(&host.seen()).ends_with("Prompts in this session: 3 (2 here, 1 restored from a transcript).")
        );
    })
    .await;
}

#[tokio::test]
async fn fail_answers_with_an_error_and_the_session_goes_on() {
    host(REJECTS, async |mut host| {
        let error = host.turn("fail").await.0.unwrap_err();
        assert_eq!(error.code.value(), -32603);
        assert_eq!(error.data.unwrap()["keyword"], "fail");
        host.turn("hello").await.0.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_cancel_ends_streaming_turns_and_the_session_goes_on() {
    for prompt in ["slow 1000", "flood 1000000000 200", "tour"] {
        host(Approver::Holds, async |mut host| {
            let reply = host.prompt(prompt);
            let cancel = async {
                host.answer_begins().await;
                host.cancel();
            };
            let (reply, ()) = futures::join!(reply, cancel);
            assert_eq!(reply.unwrap().stop_reason, StopReason::Cancelled, "{prompt}");
            host.seen();
            host.turn("hello").await.0.unwrap();
        })
        .await;
    }
}

#[tokio::test]
async fn a_cancel_while_permission_is_open_fails_the_call_and_writes_nothing() {
    host(Approver::Holds, async |mut host| {
        let reply = host.prompt("edit");
        let cancel = async {
            let responder = host.held.recv().await.unwrap();
            host.cancel();
            let cancelled = RequestPermissionOutcome::Cancelled;
            responder.respond(RequestPermissionResponse::new(cancelled)).unwrap();
        };
        let (reply, ()) = futures::join!(reply, cancel);
        assert_eq!(reply.unwrap().stop_reason, StopReason::Cancelled);
        assert_eq!(statuses(&host.seen()), REFUSED);
        assert!(!host.cwd.path().join("demo.txt").exists());
    })
    .await;
}

#[tokio::test]
async fn a_second_prompt_is_refused_while_one_runs() {
    host(REJECTS, async |mut host| {
        let running = host.prompt("slow 1000");
        let second = async {
            host.answer_begins().await;
            let error = host.prompt("hello").await.unwrap_err();
            host.cancel();
            error
        };
        let (_, error) = futures::join!(running, second);
        assert_eq!(error.code.value(), -32600);
    })
    .await;
}

#[tokio::test]
async fn closing_a_session_cancels_its_turn_and_forgets_it() {
    host(REJECTS, async |mut host| {
        let running = host.prompt("slow 1000");
        let close = async {
            host.answer_begins().await;
            let close = CloseSessionRequest::new(host.session.clone());
            host.agent.send_request(close).block_task().await.unwrap();
        };
        let (reply, ()) = futures::join!(running, close);
        assert_eq!(reply.unwrap().stop_reason, StopReason::Cancelled);
        let error = host.prompt("hello").await.unwrap_err();
        assert_eq!(error.code.value(), -32002);
    })
    .await;
}

#[tokio::test]
async fn a_relative_working_directory_is_refused() {
    host(REJECTS, async |host| {
        let new = NewSessionRequest::new("some/where");
        let error = host.agent.send_request(new).block_task().await.unwrap_err();
        assert_eq!(error.code.value(), -32602);
    })
    .await;
}
