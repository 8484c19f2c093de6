//! The contract that every adapter must pass: twenty-one assertions, made by one line per adapter:
//!
//! ```text
//! testkit::contract!(demo, make_demo);
//! ```
//!
//! Those that look at no more than a task share one conversation and are one test: starting a runtime takes most of the
//! time. Each of the others, which starts, stops or kills runtimes, is a test of its own.
//!
//! The suite drives the adapter through a real engine on a real log and looks at what anybody could see: events, files,
//! processes. What it expects follows from the capabilities that the adapter declares. A capability that is claimed and
//! not seen fails a test, and so does one that is seen and not claimed; one that is neither is the reason in the table
//! that `cargo xtask test` prints.

mod ending;
mod lying;
mod report;
mod reporting;
mod resuming;
mod stage;
mod tools;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use roost_engine::adapter::{McpServer, RuntimeAdapter};

pub use ending::*;
use report::Report;
pub use reporting::*;
pub use resuming::*;
pub use stage::Stage;
pub use tools::*;

/// A runtime under test, as the `make` function of [`contract!`](crate::contract!) returns it.
pub struct Subject {
    /// The adapter as the daemon would register it.
    pub adapter: Arc<dyn RuntimeAdapter>,
    /// The prompts that make the runtime do what the tests need.
    pub script: Script,
}

/// Prompts that make a runtime do one thing each; `None` where it has no way to do it. Words that the suite adds to a
/// prompt change nothing.
#[derive(Clone, Default)]
pub struct Script {
    /// Answers with one text in at least two pieces, and does nothing else.
    pub say: &'static str,
    /// Streams for far longer than a test takes.
    pub stream: &'static str,
    /// Asks, writes a file, then says something.
    pub write: Option<Write>,
    /// Asks about two tool calls before either is answered; their results differ.
    pub two_calls: Option<&'static str>,
    /// Asks about a tool call that then fails, and asks again about the same one.
    pub retry: Option<&'static str>,
    /// Asks about a tool call whose result has more than 8 KiB.
    pub big_result: Option<&'static str>,
    /// Runs a tool that only reads without asking.
    pub read_unasked: Option<&'static str>,
    /// Puts a question to the user.
    pub question: Option<&'static str>,
    /// Sends a native message of a type that the adapter does not know.
    pub unknown_message: Option<&'static str>,
    /// Tells what the session remembers.
    pub recall: Option<Recall>,
    /// Uses the tool server that the session is opened with.
    pub use_server: Option<UseServer>,
}

/// The prompt that writes a file, after asking for permission.
#[derive(Clone)]
pub struct Write {
    /// Must make exactly one tool call.
    pub prompt: &'static str,
    /// The file, in the working directory.
    pub file: &'static str,
    /// True if the agent repeats the reason of a refusal.
    pub says_why_not: bool,
}

/// The prompt by which a session shows what it remembers.
#[derive(Clone)]
pub struct Recall {
    /// Must be answered without any tool call.
    pub prompt: &'static str,
    /// What is in the answer if the one prompt before, the one that writes, is remembered.
    pub proof: &'static str,
    /// Makes the runtime forget its sessions, given its `HOME`; `None` if it keeps none anyway.
    pub forget: Option<fn(&Path)>,
}

/// The prompt that uses a tool server, and the server.
#[derive(Clone)]
pub struct UseServer {
    /// The same server over every transport that the runtime claims; where it does not matter, the first is used.
    pub servers: Vec<McpServer>,
    /// Must make the runtime call the server's tool.
    pub prompt: &'static str,
    /// What is in the answer if the server was reached.
    pub proof: &'static str,
}

/// The result of a test of the contract that did not panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conformance {
    /// The runtime does what the contract asks.
    Holds,
    /// The runtime does not do this and does not claim to. Names the capability that says so.
    NotClaimed(&'static str),
}

/// One assertion of a conversation: its number, its name, and what it does.
pub type Assertion = (usize, &'static str, for<'a> fn(&'a mut Stage) -> LocalBoxFuture<'a, Conformance>);

/// Makes these assertions one after the other in one conversation and writes the cell of each.
/// [`contract!`](crate::contract!) expands to this.
///
/// # Panics
/// When one of them failed; the others are made all the same.
pub fn converse(adapter: &str, make: impl Fn(PathBuf) -> Subject + 'static, assertions: &[Assertion]) {
    let found = check(make, async |stage: &mut Stage| {
        let mut failed = Vec::new();
        for &(number, name, assertion) in assertions {
            let report = Report::open(adapter, number, name);
            let found = AssertUnwindSafe(assertion(stage)).catch_unwind().await;
            stage.clear(found.is_err()).await;
            match found {
                Ok(found) => report.close(&found),
                Err(_) => failed.push(name),
            }
        }
        assert!(failed.is_empty(), "these failed, as said above: {failed:?}");
        Conformance::Holds
    });
    assert_eq!(found, Conformance::Holds);
}

/// Runs one test of the contract and writes its cell of the table. [`contract!`](crate::contract!) expands to this.
pub fn run(
    adapter: &str,
    number: usize,
    name: &str,
    make: impl Fn(PathBuf) -> Subject + 'static,
    test: impl AsyncFnOnce(&mut Stage) -> Conformance,
) {
    let report = Report::open(adapter, number, name);
    report.close(&check(make, test));
}

/// Runs one test of the contract. `make` is called once for every daemon that the test starts, with the folder in which
/// the subject must record its processes.
pub fn check(
    make: impl Fn(PathBuf) -> Subject + 'static,
    test: impl AsyncFnOnce(&mut Stage) -> Conformance,
) -> Conformance {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut stage = Stage::open(Box::new(make)).await;
        let found = test(&mut stage).await;
        stage.close().await;
        found
    })
}

/// Asserts that a capability is claimed exactly if it was seen.
fn assert_claim(capability: &str, claimed: bool, seen: bool) {
    assert!(!claimed || seen, "{capability} is claimed, but was not seen");
    assert!(claimed || !seen, "{capability} is not claimed, but was seen");
}

/// Asserts that a capability which the script cannot show is not claimed either.
fn not_claimed(capability: &'static str, claimed: bool) -> Conformance {
    assert_claim(capability, claimed, false);
    Conformance::NotClaimed(capability)
}

/// Declares the tests of the contract for one adapter: a module of this name, whose tests call this `make` function.
#[macro_export]
macro_rules! contract {
    ($adapter:ident, $make:ident) => {
        $crate::contract! { @tests $adapter, $make,
            one_conversation {
                1 the_capabilities_are_complete_and_agree_with_each_other,
                3 a_task_begins_with_its_start_and_ends_with_its_one_end,
                4 the_input_is_kept_before_there_is_any_output,
                5 pieces_of_text_add_up_to_the_finished_text,
                6 a_tool_call_carries_its_full_identity,
                7 an_allowed_call_is_asked_decided_run_and_told_in_order,
                8 a_refused_call_leaves_no_trace_and_the_agent_hears_why,
                9 two_calls_that_wait_at_once_both_finish,
                10 a_forbidden_tool_never_runs,
                14 nothing_ever_waits_for_a_terminal,
                15 a_big_result_is_kept_apart,
                17 a_second_task_goes_on_in_the_same_session,
                20 an_unknown_message_is_kept_as_it_came,
            }
            2 the_login_is_told_without_waiting_and_without_secrets,
            11 a_stop_ends_the_task_and_leaves_nothing_running,
            12 a_stop_before_the_runtime_is_there_does_not_hang,
            13 a_runtime_that_is_killed_fails_its_task_and_the_session_goes_on,
            16 the_same_conversation_twice_is_the_same_story,
            18 a_session_goes_on_in_a_new_process_and_runs_no_tool_again,
            19 a_tool_server_is_reached_over_every_transport_that_is_claimed,
            21 a_decision_is_about_exactly_one_input,
        }
    };
    (@tests $adapter:ident, $make:ident,
        $conversation:ident { $($shared_number:literal $shared:ident,)* }
        $($number:literal $test:ident,)*
    ) => {
        mod $adapter {
            #[test]
            fn $conversation() {
                let assertions: &[$crate::contract::Assertion] = &[
                    $(($shared_number, stringify!($shared), |stage| Box::pin($crate::contract::$shared(stage))),)*
                ];
                $crate::contract::converse(stringify!($adapter), super::$make, assertions);
            }

            $(#[test]
            fn $test() {
                let (adapter, name) = (stringify!($adapter), stringify!($test));
                $crate::contract::run(adapter, $number, name, super::$make, $crate::contract::$test);
            })*
        }
    };
}
