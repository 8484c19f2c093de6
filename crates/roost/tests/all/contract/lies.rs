//! The contract is worth something only if a lie breaks it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, Availability, OpenSession, RuntimeAdapter, RuntimeSession};
use roost_engine::facts::RuntimeFacts;
use roost_model::ids::RuntimeSessionId;
use roost_model::runtime::{
    AuthStatus, McpSupport, McpTransport, PermissionModel, ResumeModel, RuntimeCapabilities, RuntimeEnv,
    RuntimeIsolationMode, RuntimeName, RuntimeStateModel,
};
use testkit::contract::{self, Conformance, Stage, Subject};

use super::{make_acp, make_demo};

/// What is said instead of the truth.
#[derive(Clone, Copy)]
enum Lie {
    Claims(fn(&mut RuntimeCapabilities)),
    AsksNoQuestions,
}

/// An adapter that lies about one thing.
struct Liar {
    honest: Arc<dyn RuntimeAdapter>,
    lie: Lie,
}

#[async_trait]
impl RuntimeAdapter for Liar {
    fn name(&self) -> RuntimeName {
        self.honest.name()
    }

    fn display_name(&self) -> &str {
        self.honest.display_name()
    }

    fn facts(&self) -> &'static RuntimeFacts {
        self.honest.facts()
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        let mut claims = self.honest.capabilities();
        if let Lie::Claims(lie) = self.lie {
            lie(&mut claims);
        }
        claims
    }

    fn asks_questions(&self) -> bool {
        !matches!(self.lie, Lie::AsksNoQuestions) && self.honest.asks_questions()
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        self.honest.availability(env).await
    }

    async fn auth_status(&self, env: &RuntimeEnv) -> AuthStatus {
        self.honest.auth_status(env).await
    }

    async fn ensure_login(&self, env: &RuntimeEnv) -> Option<String> {
        self.honest.ensure_login(env).await
    }

    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        self.honest.create_session(open).await
    }

    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        self.honest.resume_session(open, native).await
    }
}

/// What the contract says to a lie.
fn objection(make: fn(PathBuf) -> Subject, lie: Lie, test: impl AsyncFnOnce(&mut Stage) -> Conformance) -> String {
    let lying = move |records| {
        let Subject { adapter, script } = make(records);
        Subject { adapter: Arc::new(Liar { honest: adapter, lie }), script }
    };
    let held = catch_unwind(AssertUnwindSafe(|| contract::check(lying, test)));
    held.err().and_then(|panic| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

macro_rules! lies {
    ($($name:ident: $make:ident, $lie:expr, $test:ident says $objection:literal;)*) => {
        $(#[test]
        fn $name() {
            let objection = objection($make, $lie, contract::$test);
            assert!(objection.contains($objection), "{objection}");
        })*
    };
}

lies! {
    isolation_that_is_recommended_and_not_supported: make_demo,
        Lie::Claims(|claims| claims.recommended_isolation_mode = RuntimeIsolationMode::InProcess),
        the_capabilities_are_complete_and_agree_with_each_other
            says "recommended_isolation_mode";
    usage_that_is_reported_and_not_claimed: make_demo,
        Lie::Claims(|claims| claims.supports_usage_reporting = false),
        a_task_begins_with_its_start_and_ends_with_its_one_end
            says "supportsUsageReporting is not claimed";
    streaming_that_is_seen_and_not_claimed: make_demo,
        Lie::Claims(|claims| claims.supports_streaming = false),
        pieces_of_text_add_up_to_the_finished_text
            says "supportsStreaming is not claimed";
    tools_that_are_seen_and_not_claimed: make_demo,
        Lie::Claims(|claims| claims.supports_tool_calls = false),
        an_allowed_call_is_asked_decided_run_and_told_in_order
            says "supportsToolCalls is not claimed";
    calls_at_once_that_are_seen_and_not_claimed: make_demo,
        Lie::Claims(|claims| claims.supports_parallel_tool_calls = false),
        two_calls_that_wait_at_once_both_finish
            says "supportsParallelToolCalls is not claimed";
    tools_that_run_unasked_where_the_host_is_said_to_decide: make_demo,
        Lie::Claims(|claims| claims.permission_model = PermissionModel::Codesdk),
        a_forbidden_tool_never_runs
            says "the host does not decide alone";
    a_stop_that_is_heard_and_not_claimed: make_demo,
        Lie::Claims(|claims| claims.supports_stop = false),
        a_stop_ends_the_task_and_leaves_nothing_running
            says "supportsStop is not claimed";
    work_without_a_terminal_that_is_seen_and_not_claimed: make_demo,
        Lie::Claims(|claims| claims.supports_non_interactive = false),
        nothing_ever_waits_for_a_terminal
            says "supportsNonInteractive is not claimed";
    questions_that_are_asked_and_not_claimed: make_demo,
        Lie::AsksNoQuestions,
        nothing_ever_waits_for_a_terminal
            says "supportsInteractiveQuestions is not claimed";
    a_memory_that_is_claimed_and_not_seen: make_demo,
        Lie::Claims(|claims| {
            claims.supports_session_resume = true;
            claims.resume_model = ResumeModel::Native;
            claims.state_model = RuntimeStateModel::LocalDisk;
        }),
        a_session_goes_on_in_a_new_process_and_runs_no_tool_again
            says "supportsSessionResume is claimed";
    a_memory_that_is_seen_and_not_claimed: make_acp,
        Lie::Claims(|claims| claims.supports_session_resume = false),
        a_session_goes_on_in_a_new_process_and_runs_no_tool_again
            says "supportsSessionResume is not claimed";
    tool_servers_that_are_claimed_and_never_reached: make_demo,
        Lie::Claims(|claims| {
            claims.mcp_support = McpSupport::ClientOnly;
            claims.mcp_transports = Some(vec![McpTransport::Stdio]);
        }),
        a_tool_server_is_reached_over_every_transport_that_is_claimed
            says "mcpSupport is claimed";
    a_transport_that_is_claimed_and_that_nothing_is_reached_over: make_acp,
        Lie::Claims(|claims| claims.mcp_transports = Some(vec![McpTransport::Stdio, McpTransport::Sse])),
        a_tool_server_is_reached_over_every_transport_that_is_claimed
            says "Sse is claimed";
}
