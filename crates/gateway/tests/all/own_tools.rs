//! The policy's part in the gateway's own tools, and the questions that modules ask through the gateway.

use std::collections::BTreeMap;
use std::sync::Arc;

use roost_engine::adapter::Answer;
use roost_engine::{Response, ResponseTo};
use roost_gateway::governor::{Access, GatewayCall, Governor, Permit};
use roost_gateway::namespace::Namespace;
use roost_gateway::principal::Principal;
use roost_log::Log;
use roost_model::approval::{Answerer, PendingAsk};
use roost_model::ids::{QuestionId, ServiceId};
use roost_model::payload::{QuestionAskedPayload, QuestionField};
use roost_policy::{Effect, Rule, RuleSet};
use serde_json::json;
use testkit::soon;

use crate::governed::*;

const READS: &str = r#"{"readOnlyHint":true}"#;

/// Judges a call of a tool `list` of this namespace; of the gateway itself if there is no service.
async fn judge_own(governed: &Governed, namespace: &str, service: Option<&str>, annotations: &str) -> Permit {
    let (service, namespace) = (service.map(ServiceId::from), Namespace::from_text(namespace));
    let (arguments, annotations) =
        (raw(&json!({})), serde_json::value::RawValue::from_string(annotations.into()).unwrap());
    let call = GatewayCall {
        access: Access::Call,
        principal: &Principal::Local,
        client_name: Some("probe"),
        service: service.as_ref(),
        namespace: Some(&namespace),
        tool: "runtime__list",
        routed_tool: "list",
        arguments: Some(&arguments),
        meta: None,
        annotations: Some(&annotations),
    };
    governed.governor.judge(&call).await
}

#[tokio::test]
async fn what_only_reads_in_the_gateway_itself_is_allowed_unasked_and_recorded() {
    let governed = Governed::start().await;
    let ticket = allowed(judge_own(&governed, "runtime", None, READS).await);
    governed.finish(ticket, &json!({})).await;
    let records = governed.records().await;
    assert_eq!(records[0].policy.rule.as_deref(), Some("gateway:only_looks"));
    assert_eq!((records[0].service_id.as_ref(), records[0].success), (None, true));
    governed.host.stop().await;
}

#[tokio::test]
async fn a_rule_denies_also_what_only_reads() {
    let rule = Rule { tool: Some("mcp__roost__runtime__*".into()), ..Rule::new(Effect::Deny) };
    let rules = Arc::new(RuleSet::new(&[rule]).unwrap());
    let governed = Governed::start_with(|config| config.rules = rules, Default::default()).await;
    denied(judge_own(&governed, "runtime", None, READS).await);
    governed.host.stop().await;
}

#[tokio::test]
async fn what_changes_something_and_what_a_service_says_of_itself_is_asked_about() {
    for (namespace, service, annotations) in [
        ("runtime", None, r#"{"readOnlyHint":false}"#),
        ("docs", Some("svc_0123456789ab"), READS),
        ("docs", None, READS),
    ] {
        let governed = Governed::start().await;
        let asking = async {
            let asked = governed.asked().await;
            governed.answer(&asked, deny("no")).await.unwrap();
        };
        let (permit, ()) = tokio::join!(judge_own(&governed, namespace, service, annotations), asking);
        assert_eq!(denied(permit), "no");
        governed.host.stop().await;
    }
}

fn question() -> QuestionAskedPayload {
    let field =
        QuestionField { id: "colour".into(), label: "Which?".into(), options: vec![], multiple: false, required: true };
    QuestionAskedPayload {
        question_id: QuestionId::new(),
        message: "The service asks: Which?".into(),
        fields: vec![field],
        tool_call_id: None,
    }
}

#[tokio::test]
async fn a_question_of_a_module_waits_in_the_session_of_its_caller_and_takes_one_answer() {
    let governed = Governed::start().await;
    let asking = governed.governor.ask(&Principal::Local, Some("probe"), question());
    let answering = async {
        let asked = governed.asked().await;
        assert!(matches!(&asked.ask, PendingAsk::Question(_)), "{asked:?}");
        let answer = Answer::Given(BTreeMap::from([("colour".to_owned(), vec!["blue".to_owned()])]));
        let to = ResponseTo::Question { question: asked.id().into(), answer };
        let response = Response { to, by: Answerer::default(), key: None };
        soon("the answer is taken", governed.host.engine.respond(asked.session_id.as_str(), response)).await.unwrap();
    };
    let (answers, ()) = tokio::join!(soon("the answer comes", asking), answering);
    assert_eq!(answers.unwrap().unwrap()["colour"], ["blue"]);
    governed.host.stop().await;
}

#[tokio::test]
async fn a_question_ends_when_its_module_gives_up_or_its_session_is_stopped() {
    let governed = Governed::start().await;
    let governor = governed.governor.clone();
    let asking = tokio::spawn(async move { governor.ask(&Principal::Local, None, question()).await });
    let asked = governed.asked().await;
    asking.abort();
    let withdrawn = async {
        while !governed.host.log.pending(None).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    soon("the question is withdrawn", withdrawn).await;
    let governor = governed.governor.clone();
    let asking = tokio::spawn(async move { governor.ask(&Principal::Local, None, question()).await });
    let again = governed.asked().await;
    assert_eq!(again.session_id, asked.session_id);
    soon("it is stopped", governed.host.engine.stop(again.session_id.as_str(), "enough")).await.unwrap();
    assert_eq!(soon("it ends", asking).await.unwrap().unwrap(), None);
    governed.host.stop().await;
}
