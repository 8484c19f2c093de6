//! A turn of a hosted agent begins when the agent knows which tools there are.

use std::sync::Arc;

use futures::FutureExt;
use roost_gateway::endpoint::{Backend, Endpoint, IncomingRequest, Outlet, ReplayBuffer, Session, View};
use roost_gateway::principal::Principal;
use roost_model::ids::SessionId;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use testkit::mcp_fixture::FixtureEra::Legacy;
use testkit::soon;

use super::client::LEGACY;
use super::fixture_gateway::FixtureGateway;

/// A hosted agent that speaks a legacy revision.
struct HostedAgent {
    endpoint: Arc<Endpoint>,
    session: Arc<Session>,
}

impl HostedAgent {
    fn new(gateway: &FixtureGateway, id: &SessionId) -> Self {
        let params = to_raw_value(&json!({ "protocolVersion": LEGACY, "capabilities": {} })).unwrap();
        let (endpoint, principal) = (gateway.endpoint.clone(), Principal::Session(id.clone()));
        let general = Outlet::Stream(Arc::new(ReplayBuffer::default()));
        let (session, _) = endpoint.initialize(principal, View::All, Some(&params), general).unwrap();
        Self { endpoint, session }
    }

    async fn call(&self, method: &str, params: Value) {
        let (id, params) = (to_raw_value(&1).unwrap(), to_raw_value(&params).unwrap());
        let incoming = IncomingRequest { id: &id, method, params: Some(&params), traceparent: None };
        let outlet = Outlet::Stream(Arc::new(ReplayBuffer::default()));
        self.endpoint.answer_legacy(&self.session, incoming, &outlet).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_turn_waits_until_its_agent_has_read_the_tools_that_changed() {
    let gateway = FixtureGateway::start(&[("old", Legacy)]).await;
    let (id, other) = (SessionId::from("one"), SessionId::from("another"));
    let (agent, _) = (HostedAgent::new(&gateway, &id), HostedAgent::new(&gateway, &other));
    soon("an agent that reads no list is not waited for", gateway.endpoint.tools_read(&id)).await;
    agent.call("tools/list", json!({})).await;
    soon("an agent that knows its tools is not waited for", gateway.endpoint.tools_read(&id)).await;
    let mut changed = gateway.backend.changed();
    agent.call("tools/call", json!({ "name": "old__test_trigger_tool_change" })).await;
    soon("the list to change", changed.changed()).await.unwrap();
    let mut turn = Box::pin(gateway.endpoint.tools_read(&id));
    assert!((&mut turn).now_or_never().is_none(), "the agent does not know its tools");
    agent.call("tools/list", json!({})).await;
    assert!(turn.now_or_never().is_some(), "it knows them");
    soon("another agent", gateway.endpoint.tools_read(&other)).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_read_a_changed_list_is_waited_for_once() {
    let gateway = FixtureGateway::start(&[("old", Legacy)]).await;
    let id = SessionId::from("one");
    let agent = HostedAgent::new(&gateway, &id);
    agent.call("tools/list", json!({})).await;
    let mut changed = gateway.backend.changed();
    agent.call("tools/call", json!({ "name": "old__test_trigger_tool_change" })).await;
    soon("the list to change", changed.changed()).await.unwrap();
    gateway.endpoint.tools_read(&id).await;
    assert!(gateway.endpoint.tools_read(&id).now_or_never().is_some(), "it is waited for again");
}
