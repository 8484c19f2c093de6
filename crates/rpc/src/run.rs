//! The methods for agent runs (seed 003): what orchestration clients report, and hosted sessions as runs. Results are
//! written as that seed's clients read them.

use roost_model::ids::{RunId, ServiceId};
use roost_model::run::{EventLevel, RunSummary};
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

params! {
    /// Parameters of `run/list`.
    #[derive(Default)]
    RunListParams {
        ;
        /// Most runs, 1 to 2000; 100 if absent.
        limit: u32,
    }
}

wire! {
    /// Runs, the one that changed last first.
    RunListResult {
        /// The runs: those that clients report, and every hosted session.
        items: Vec<RunSummary>,
    }
}

params! {
    /// Parameters of `run/events`.
    #[derive(Default)]
    RunEventsParams {
        ;
        /// The run; all of them if absent. The id of a hosted session is the id of its run.
        #[serde(alias = "runId")]
        run_id: String,
        /// Most events, 1 to 2000; 200 if absent.
        limit: u32,
    }
}

wire! {
    /// The last events of a run or of all, in order of time.
    #[serde(rename_all = "camelCase")]
    RunEventsResult {
        /// The run that was asked for; absent if none was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        /// The events, the latest last.
        items: Vec<RunEvent>,
    }
}

wire! {
    /// Something that happened in a run.
    #[serde(rename_all = "camelCase")]
    RunEvent {
        /// Its number: in the daemon's own stream for what was reported, in the session's for a hosted agent.
        seq: u64,
        /// When it was recorded.
        at: Timestamp,
        /// Such as `agent.run_started`.
        kind: String,
        /// The service that the agent belongs to; absent if it belongs to none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        service_id: Option<ServiceId>,
        /// How serious it is.
        level: EventLevel,
        /// One line for people.
        message: String,
        /// What was told besides, with the run, the step and the agent as `runId`, `stepId` and `agent`.
        data: Map<String, Value>,
    }
}

params! {
    /// Parameters of `run/message`.
    RunMessageParams {
        /// The run; the id of a hosted session is the id of its run.
        #[serde(alias = "runId")]
        run_id: String,
        /// What is said, at most 64 KiB.
        #[serde(alias = "text", alias = "content")]
        message: String,
        ;
        /// Who says it; `user` if absent, which is whom the agent answers.
        role: RunMessageRole,
    }
}

words! {
    /// Who says something in a run.
    #[derive(Default)]
    RunMessageRole {
        /// A person, whom the agent answers.
        #[default]
        User,
        /// The agent itself.
        Assistant,
        /// Somebody who looks after both.
        System,
    }
}

wire! {
    /// The message is recorded.
    #[serde(rename_all = "camelCase")]
    RunMessageResult {
        /// True in every answer; a failure is an error.
        ok: bool,
        /// The run that it was for.
        run_id: RunId,
        /// What the agent answered; absent if nobody answers here, or later, as a hosted session does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<String>,
    }
}

params! {
    /// Parameters of `run/report`.
    RunReportParams {
        /// The events, at most 10,000. Each has a `kind` that begins with `agent.`, and most kinds need a `run_id`.
        events: Vec<Map<String, Value>>,
        ;
        /// Names this report, so that it is recorded once however often it is sent; an event may have a key of its own.
        #[serde(alias = "idempotencyKey")]
        idempotency_key: String,
    }
}

wire! {
    /// The events are recorded, now or before under the same key.
    RunReportResult {
        /// True in every answer; a failure is an error.
        ok: bool,
        /// Number of events that are recorded.
        accepted: u64,
    }
}
