//! Requests that the policy judges before a service gets them.

use serde_json::value::RawValue;

use super::Endpoint;
use super::forward::Forwarding;
use super::methods::MethodAnswer;
use super::refusal::{INTERNAL_ERROR, McpRefusal};
use super::request::Request;
use super::running_call::OpenTicket;
use crate::catalog::OfferedService;
use crate::governor::{Access, GatewayCall, Permit};
use crate::raw_object::RawObject;

/// What the policy is told of a request.
pub(super) struct Judged<'a> {
    pub(super) access: Access,
    /// The name under which the client sees it.
    pub(super) tool: &'a str,
    /// The service's own name of the tool; the method, if it is no tool that is called.
    pub(super) routed_tool: &'a str,
    /// What the caller gives.
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) annotations: Option<&'a RawValue>,
}

/// Why the policy does not let a request pass.
pub(super) struct Denied(pub(super) String);

impl Endpoint {
    /// Forwards a request if the policy lets it pass.
    pub(super) async fn forward_judged(
        &self,
        forwarding: Forwarding<'_>,
        judged: Judged<'_>,
    ) -> Result<MethodAnswer, Denied> {
        let Forwarding { request, service, .. } = forwarding;
        let mut denied = None;
        let permit = async || match self.permit(request, service, judged).await {
            Ok(ticket) => Ok(Some(ticket)),
            Err(reason) => {
                denied = Some(reason);
                Err(McpRefusal::new(INTERNAL_ERROR, "denied"))
            }
        };
        let answer = self.forward(forwarding, permit).await;
        denied.map_or(Ok(answer), Err)
    }

    /// Asks the policy for the permit of a request.
    pub(super) async fn permit(
        &self,
        request: &Request<'_>,
        service: &OfferedService,
        judged: Judged<'_>,
    ) -> Result<OpenTicket, Denied> {
        let Judged { access, tool, routed_tool, arguments, annotations } = judged;
        let is_own = service.namespace.is_reserved();
        // What is judged may be shown and recorded, and a secret must not be.
        let arguments = if is_own { arguments.map(without_secret) } else { arguments };
        let call = GatewayCall {
            access,
            principal: &request.context.principal,
            client_name: request.context.name(),
            service: (!is_own).then_some(&service.id),
            namespace: Some(&service.namespace),
            tool,
            routed_tool,
            arguments: arguments.as_deref(),
            meta: request.params.get("_meta"),
            annotations,
        };
        match self.governor.judge(&call).await {
            Permit::Allowed(ticket) => {
                let bytes = arguments.as_deref().map_or(0, |arguments| arguments.get().len());
                Ok(OpenTicket::new(self.governor.clone(), ticket, bytes, self.tasks.clone()))
            }
            Permit::Denied { reason } => Err(Denied(reason)),
        }
    }
}

impl From<Denied> for McpRefusal {
    fn from(Denied(reason): Denied) -> Self {
        Self::new(INTERNAL_ERROR, reason)
    }
}

/// The arguments of one of the gateway's own tools without the secret that they may set.
fn without_secret(arguments: Box<RawValue>) -> Box<RawValue> {
    match RawObject::parse(&arguments) {
        Some(mut members) if members.get("secret").is_some() => {
            members.set_text("secret", "***");
            members.to_raw()
        }
        _ => arguments,
    }
}
