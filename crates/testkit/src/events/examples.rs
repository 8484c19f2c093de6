//! One event of every type, with every optional field filled.

use std::collections::BTreeMap;

use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope, PendingKind};
use roost_model::content::{ArtifactRef, AssistantContentBlock, TranscriptMessage};
use roost_model::event::{EventBody, NormalizedEvent, RuntimeRef, Trace};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::RequestId;
use roost_model::mode::{Mode, PermissionMode};
use roost_model::pattern::{CallPattern, RememberedRule, Touches};
use roost_model::payload::*;
use roost_model::runtime::{InteractionMode, RuntimeName};
use roost_model::scope::Scope;
use roost_model::service::{Health, Lifecycle};
use roost_model::session::{QueuedPrompt, SessionStatus};
use roost_model::time::Timestamp;
use roost_model::tool::{
    PolicyDecision, PolicyResult, PolicySource, ToolCallIdentity, ToolClass, ToolExecutedBy, ToolExecutionEnv,
    ToolPolicyEvaluation, ToolPolicySnapshot, ToolSandboxSummary,
};
use serde_json::json;

use super::event;

/// One event of every type in the table's order, numbered from 1.
pub fn examples() -> Vec<NormalizedEvent> {
    let bodies =
        [session_and_task_start(), model(), tool(), endings(), additions(), host(), services(), gateway()].concat();
    (1..).zip(bodies).map(|(seq, body)| with_full_envelope(event(seq, body))).collect()
}

fn with_full_envelope(event: NormalizedEvent) -> NormalizedEvent {
    NormalizedEvent {
        trace: Trace {
            request_id: Some("req_1".into()),
            client_id: Some("phone".into()),
            user_id: Some("ada".into()),
            ..event.trace
        },
        runtime: RuntimeRef {
            name: RuntimeName::CodexSdk,
            model: Some("gpt-6".into()),
            runtime_session_id: Some("thread-7".into()),
            raw: Some(json!({ "native": [1, 2.5, null] })),
        },
        ..event
    }
}

fn session_and_task_start() -> Vec<EventBody> {
    vec![
        SessionCreatedPayload {
            contract_version: "1".into(),
            runtime: RuntimeName::CodexSdk,
            cwd: "/home/ada/engine".into(),
            credential_namespace: "ada".into(),
            title: Some("The engine".into()),
            model: Some("gpt-6".into()),
            permission_mode: PermissionMode::Ask,
            mode: Mode::AcceptEdits,
            workspace_id: Some("w1".into()),
            isolation: None,
            env: Vec::new(),
            mcp_servers: Vec::new(),
            runtime_config: json!({ "sandbox": ["strict"] }).as_object().cloned(),
            runtime_config_hash: None,
            adopted: None,
            forked: None,
        }
        .into(),
        TaskStartedPayload {
            messages: vec![TranscriptMessage::user("Compute the Bernoulli numbers.")],
            permission_mode: PermissionMode::Auto,
            mode: Mode::Auto,
            interaction_mode: InteractionMode::Interactive,
            prompt_id: Some("prompt_1".into()),
        }
        .into(),
    ]
}

fn model() -> Vec<EventBody> {
    let request_id = RequestId::from("req_1");
    vec![
        ModelInputPayload {
            input_ref: Some(artifact("model_input.json")),
            input_hash: "sha256:1111".into(),
            context_window: ContextWindow {
                strategy: ContextStrategy::TruncateOldest,
                max_chars: Some(4000),
                omitted_indices: Some(vec![0, 1]),
                overflow: Some(true),
            },
            implicit_sources_ref: Some(artifact("implicit_sources.json")),
        }
        .into(),
        RuntimeRequestStartedPayload { request_id: request_id.clone(), method: "turn/start".into() }.into(),
        RuntimeRequestCompletedPayload {
            request_id,
            method: "turn/start".into(),
            status: RequestStatus::Ok,
            duration_ms: 1250,
        }
        .into(),
        ModelOutputDeltaPayload {
            kind: ModelOutputDeltaKind::JsonDelta,
            block_id: "block-1".into(),
            delta: "{\"n\":".into(),
            tool_call_id: Some("tc_1".into()),
            language: Some("json".into()),
        }
        .into(),
        ModelOutputCompletedPayload {
            content: vec![
                AssistantContentBlock::Text { text: "B₁ = ½\n".into() },
                AssistantContentBlock::Code { code: "print(1/2)".into(), language: Some("python".into()) },
                AssistantContentBlock::ArtifactRef {
                    artifact_id: "a1".into(),
                    name: Some("table.csv".into()),
                    content_type: Some("text/csv".into()),
                },
            ],
        }
        .into(),
    ]
}

fn tool() -> Vec<EventBody> {
    let name = String::from("shell");
    let policy_snapshot = |decision, result| ToolPolicySnapshot {
        permission_mode: Some(PermissionMode::Ask),
        mode: Some(Mode::Ask),
        decision,
        sources: vec![ToolPolicyEvaluation { source: PolicySource::User, result, rule: Some("user_decided".into()) }],
    };
    vec![
        ToolCallRequestedPayload {
            identity: identity(),
            name: name.clone(),
            input: json!({ "command": "bc" }),
            input_ref: Some(artifact("tool_input.json")),
            title: Some("Run bc".into()),
            kind: Some(ToolKind::Execute),
        }
        .into(),
        ToolCallPolicyEvaluatedPayload {
            identity: identity(),
            source: PolicySource::Codesdk,
            result: PolicyResult::Ask,
            rule: Some("permission_mode:ask".into()),
        }
        .into(),
        ToolCallApprovedPayload { identity: identity() }.into(),
        ToolCallDeniedPayload {
            identity: identity(),
            name: name.clone(),
            reason: "not on this machine".into(),
            policy_snapshot: policy_snapshot(PolicyDecision::Deny, PolicyResult::Deny),
        }
        .into(),
        ToolCallStartedPayload { identity: identity() }.into(),
        ToolOutputDeltaPayload { identity: identity(), stream: OutputStream::Stderr, delta: "bc 1.07\n".into() }.into(),
        ToolOutputCompletedPayload {
            identity: identity(),
            stdout: Some(".5\n".into()),
            stderr: Some("bc 1.07\n".into()),
        }
        .into(),
        ToolCallCompletedPayload {
            identity: identity(),
            name,
            executed_by: ToolExecutedBy::Runtime,
            execution_env: ToolExecutionEnv::RuntimeInternal,
            policy_snapshot: policy_snapshot(PolicyDecision::Allow, PolicyResult::Allow),
            sandbox: Some(ToolSandboxSummary {
                network: Some(false),
                timeout_ms: Some(120_000),
                mounts: Some(vec!["/workspace".into()]),
            }),
            result_ref: Some(artifact("tool_result.txt")),
            result_preview: Some(json!(".5")),
            is_error: Some(false),
        }
        .into(),
    ]
}

fn endings() -> Vec<EventBody> {
    vec![
        UsageReportedPayload {
            input_tokens: Some(1200),
            cached_input_tokens: Some(1000),
            output_tokens: Some(80),
            reasoning_tokens: Some(30),
            cost_usd: Some(0.0125),
            context: Some(ContextFill { used: 1280, size: 200_000 }),
        }
        .into(),
        TaskCompletedPayload { reason: "end_turn".into() }.into(),
        TaskFailedPayload {
            reason: "the runtime ended in the middle of the task".into(),
            error: TaskError {
                runtime: Some(RuntimeName::CodexSdk),
                stderr_tail: Some("panicked".into()),
                raw: Some(json!({ "code": 101 })),
                ..TaskError::new(FailureCode::RuntimeExited, "codex ended with code 101; send the prompt again")
            },
        }
        .into(),
        TaskStoppedPayload { reason: "user".into(), stopped_by: Some(answerer()) }.into(),
    ]
}

fn additions() -> Vec<EventBody> {
    vec![
        SessionUpdatedPayload {
            status: Some(SessionStatus::Ending),
            title: Some("Bernoulli".into()),
            model: Some("gpt-6-mini".into()),
            mode: Some(Mode::Plan),
            runtime_config: json!({ "effort": "high" }).as_object().cloned(),
            runtime_config_hash: Some("sha256:1".into()),
            runtime_session_id: Some("thread-7".into()),
            queue: Some(vec![QueuedPrompt {
                prompt_id: "prompt_2".into(),
                message: TranscriptMessage::user("And B₂?"),
                held: true,
            }]),
            reason: Some("restart".into()),
            hidden: Some(true),
        }
        .into(),
        SessionClosedPayload { reason: "expired".into() }.into(),
        QuestionAskedPayload {
            question_id: "q_1".into(),
            message: "How many?".into(),
            fields: vec![QuestionField {
                id: "count".into(),
                label: "Count".into(),
                options: vec![QuestionOption {
                    value: "10".into(),
                    label: "Ten".into(),
                    description: Some("enough for a table".into()),
                }],
                multiple: true,
                required: true,
            }],
            tool_call_id: Some("tc_1".into()),
        }
        .into(),
        QuestionResolvedPayload {
            question_id: "q_1".into(),
            outcome: QuestionOutcome::Answered,
            answers: BTreeMap::from([("count".into(), vec!["10".into()])]),
            answered_by: Some(answerer()),
            reason: Some("first answer wins".into()),
            still_waits_for: Some(PendingKind::Approval),
        }
        .into(),
        PlanUpdatedPayload {
            entries: vec![PlanEntry {
                content: "Derive the recurrence".into(),
                priority: PlanPriority::High,
                status: PlanStatus::InProgress,
            }],
        }
        .into(),
        RuntimeNoticePayload {
            level: NoticeLevel::Warning,
            source: NoticeSource::Stderr,
            message: "deprecated option".into(),
        }
        .into(),
        ApprovalRequestedPayload {
            identity: identity(),
            name: "shell".into(),
            title: Some("git status".into()),
            kind: Some(ToolKind::Execute),
            input: json!({ "command": "git status" }),
            input_ref: Some(artifact("tool_input.json")),
            class: Some(ToolClass::Write),
            rule: Some("permission_mode:ask".into()),
            offer: Some(git_status()),
            expires_at: Some(Timestamp::from_millis(1_763_197_900_000)),
        }
        .into(),
        ApprovalResolvedPayload {
            identity: identity(),
            decision: PolicyDecision::Allow,
            end: ApprovalEnd::Answered,
            scope: ApprovalScope::Workspace,
            reason: Some("it only reads".into()),
            answered_by: Some(answerer()),
            edited_input: Some(json!({ "command": "git status --short" })),
            remembered: Some(RememberedRule {
                scope: ApprovalScope::Workspace,
                decision: PolicyDecision::Allow,
                pattern: git_status(),
                session_id: Some("s1".into()),
                workspace: Some("/home/ada/engine".into()),
                by: Some(answerer()),
            }),
            still_waits_for: Some(PendingKind::Question),
        }
        .into(),
    ]
}

fn host() -> Vec<EventBody> {
    let (name, path) = (String::from("engine"), String::from("/home/ada/engine"));
    vec![
        WorkspaceAddedPayload { workspace_id: "w1".into(), name: name.clone(), path: path.clone() }.into(),
        WorkspaceUpdatedPayload { workspace_id: "w1".into(), name: Some(name.clone()), auto_start: Some(true) }.into(),
        WorkspaceRemovedPayload { workspace_id: "w1".into(), name, path }.into(),
        DevicePairedPayload { device_id: "dev_1".into(), name: "Ada's phone".into(), scope: Scope::Operate }.into(),
        DeviceRevokedPayload { device_id: "dev_1".into(), reason: "lost".into() }.into(),
        GitOperationCompletedPayload {
            workspace_id: "w1".into(),
            operation: "pull".into(),
            success: false,
            message: Some("Merge conflict in notes.md".into()),
            error: Some("conflicts wait".into()),
            sha: Some("2fd4e1c".into()),
            branch: Some("main".into()),
            files_affected: Some(1),
            commits_pushed: Some(0),
            commits_pulled: Some(2),
            conflicted_files: Some(vec!["notes.md".into()]),
        }
        .into(),
        GitBranchChangedPayload {
            workspace_id: "w1".into(),
            from_branch: "main".into(),
            to_branch: "notes".into(),
            session_id: Some("s1".into()),
        }
        .into(),
        PairingLockedPayload { address: "192.0.2.7".into(), wrong_tries: 5, code_withdrawn: false }.into(),
        RuleRemovedPayload {
            rule_id: "rule_12ab34cd56ef".into(),
            rule: RememberedRule {
                scope: ApprovalScope::Always,
                decision: PolicyDecision::Allow,
                pattern: CallPattern {
                    touches: Some(Touches::Commands(vec![
                        vec!["git".into(), "add".into(), "*".into()],
                        vec!["CI=1".into(), "npm".into(), "test".into(), "*".into()],
                    ])),
                    ..CallPattern::default()
                },
                session_id: None,
                workspace: None,
                by: None,
            },
            removed_by: answerer(),
        }
        .into(),
    ]
}

fn services() -> Vec<EventBody> {
    vec![
        ServiceManifestAppliedPayload {
            service_id: "svc_b16de01f2662".into(),
            version: 2,
            namespace: "everything".into(),
            enabled: true,
        }
        .into(),
        ServiceStateChangedPayload {
            service_id: "svc_b16de01f2662".into(),
            before: Lifecycle::Running,
            lifecycle: Lifecycle::Crashed,
            health: Health::Unreachable,
            error: Some("the connection was refused".into()),
            next_attempt: Some(Timestamp::from_millis(1_763_197_849_000)),
            restart_count: 1,
        }
        .into(),
        ServiceInterfaceRefreshedPayload {
            service_id: "svc_b16de01f2662".into(),
            revision: "iface_0123456789ab".into(),
            tools: 12,
            resources: 3,
            prompts: 1,
            held_back: vec!["echo".into()],
        }
        .into(),
        ServiceToolsApprovedPayload {
            service_id: "svc_b16de01f2662".into(),
            tools: vec!["echo".into()],
            count: 1,
            approved_by: Some("ada".into()),
        }
        .into(),
        ServiceRemovedPayload { service_id: "svc_b16de01f2662".into(), namespace: "everything".into() }.into(),
    ]
}

fn git_status() -> CallPattern {
    CallPattern {
        runtime: Some("codex".into()),
        tool: Some("shell".into()),
        touches: Some(Touches::Command(vec!["git".into(), "status".into(), "*".into()])),
    }
}

fn answerer() -> Answerer {
    Answerer { client_id: Some("phone".into()), user_id: Some("ada".into()), from: Some("web".into()) }
}

fn identity() -> ToolCallIdentity {
    ToolCallIdentity {
        tool_call_id: "tc_1".into(),
        runtime_tool_call_id: Some("call_abc".into()),
        attempt: 1,
        input_hash: "sha256:2222".into(),
    }
}

fn artifact(name: &str) -> ArtifactRef {
    ArtifactRef {
        artifact_id: "a1".into(),
        content_type: Some("application/json".into()),
        size_bytes: Some(243),
        content_hash: Some("sha256:3333".into()),
        name: Some(name.into()),
    }
}

fn gateway() -> Vec<EventBody> {
    vec![
        McpToolCalledPayload {
            principal: "session:s1".into(),
            client: Some("claude-code 2.1".into()),
            service_id: Some("svc_0123456789ab".into()),
            tool: "docs__search".into(),
            routed_tool: "search".into(),
            success: false,
            error: Some("the service did not answer within 30s".into()),
            policy: ToolPolicyEvaluation {
                source: PolicySource::User,
                result: PolicyResult::Allow,
                rule: Some("user_approved".into()),
            },
            duration_us: 30_000_000,
            request_bytes: 24,
            response_bytes: 0,
            session_id: Some("s1".into()),
            tool_call_id: Some("tc_1".into()),
            run_id: Some("nightly".into()),
            trace_id: Some("0af7651916cd43dd8448eb211c80319c".into()),
            parent_span_id: Some("b7ad6b7169203331".into()),
            arguments: Some(json!({ "query": "tides" })),
        }
        .into(),
        McpBudgetExceededPayload {
            run_id: "nightly".into(),
            budget: BudgetKind::Tokens,
            spent: 210_000.0,
            limit: 200_000.0,
            raised: true,
        }
        .into(),
        TaskSteeredPayload { message: TranscriptMessage::user("Only the first ten of them.") }.into(),
    ]
}
