//! What every tool call of the gateway passes: the one policy, and the one record.

use std::time::Duration;

use async_trait::async_trait;
use roost_model::ids::ServiceId;
use serde_json::value::RawValue;

use crate::namespace::Namespace;
use crate::principal::Principal;

/// What a request does, as far as the policy needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It runs something, or sends the service words of the caller.
    Call,
    /// It reads what the service itself lists. Nobody is asked about it, but rules may deny it.
    Read,
}

/// A tool call that somebody wants to make through the gateway, or another request that gets or sends content.
#[derive(Debug)]
pub struct GatewayCall<'a> {
    /// What it does.
    pub access: Access,
    /// On whose behalf.
    pub principal: &'a Principal,
    /// What the client calls itself, for people.
    pub client_name: Option<&'a str>,
    /// The service that would run it; `None` for the gateway's own tools.
    pub service: Option<&'a ServiceId>,
    /// The namespace of the tool. With the service's own name of the tool it makes the name in rules, which is the same at
    /// every address of the gateway; `None` for what is no tool.
    pub namespace: Option<&'a Namespace>,
    /// The name under which the client sees the tool.
    pub tool: &'a str,
    /// The name by which the service knows the tool; the method, if it is no tool that is called.
    pub routed_tool: &'a str,
    /// The arguments as they came; `None` if there are none.
    pub arguments: Option<&'a RawValue>,
    /// The `_meta` of the request as it came.
    pub meta: Option<&'a RawValue>,
    /// The tool's annotations as the approved definition has them.
    pub annotations: Option<&'a RawValue>,
}

/// The outcome of judging a call.
#[derive(Debug)]
pub enum Permit {
    /// It may run; the ticket is handed back with its outcome.
    Allowed(Ticket),
    /// It may not run. The client reads the reason; the denial is recorded already.
    Denied {
        /// Why, for the agent and its person.
        reason: String,
    },
}

/// Names an allowed call to its governor until it is over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// How an allowed call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallReport {
    /// Whether the service gave a result that is no error.
    pub success: bool,
    /// Why not, in a few words without arguments or results.
    pub error: Option<String>,
    /// From the permit to the answer.
    pub duration: Duration,
    /// The bytes of the arguments.
    pub request_bytes: u64,
    /// The bytes of the answer.
    pub response_bytes: u64,
}

/// The one policy and the one record, as the gateway uses them.
#[async_trait]
pub trait Governor: Send + Sync + 'static {
    /// Judges a call, and waits for a person where the policy asks. Dropping the future withdraws the question.
    async fn judge(&self, call: &GatewayCall<'_>) -> Permit;

    /// Records how an allowed call ended, also one that was cancelled. `result` is what the client gets: a result,
    /// or the words of an error.
    async fn finish(&self, ticket: Ticket, report: CallReport, result: Option<&RawValue>);
}
