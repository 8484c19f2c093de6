//! Any event, however odd its text, is one line and is read back as it was.

use proptest::prelude::*;
use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType, RuntimeRef, Trace};
use roost_model::payload::*;
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;

/// Text with control characters, line separators, quotes and all of Unicode.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec!['\0', '\n', '\r', '\u{1b}', '\u{7f}', '\u{2028}', '\u{feff}', '"', '\\', '🦀']);
    prop::collection::vec(prop_oneof![odd, any::<char>()], 0..24).prop_map(String::from_iter)
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        finite().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("JSON has finite numbers only", |number| number.is_finite())
}

fn identity() -> impl Strategy<Value = ToolCallIdentity> {
    (text(), prop::option::of(text()), any::<u32>(), text()).prop_map(|(id, native, attempt, input_hash)| {
        ToolCallIdentity { tool_call_id: id.into(), runtime_tool_call_id: native, attempt, input_hash }
    })
}

fn body() -> impl Strategy<Value = EventBody> {
    use ModelOutputDeltaKind::*;
    let kind = prop::sample::select(vec![TextDelta, JsonDelta, CodeDelta, ReasoningDelta, UnknownDelta]);
    let stream = prop::sample::select(vec![OutputStream::Stdout, OutputStream::Stderr]);
    prop_oneof![
        (kind, text(), text(), prop::option::of(text()), prop::option::of(text())).prop_map(
            |(kind, block, delta, call, language)| {
                let tool_call_id = call.map(Into::into);
                ModelOutputDeltaPayload { kind, block_id: block.into(), delta, tool_call_id, language }.into()
            }
        ),
        (identity(), stream, text()).prop_map(|(identity, stream, delta)| ToolOutputDeltaPayload {
            identity,
            stream,
            delta
        }
        .into()),
        (identity(), text(), json_value(), prop::option::of(text())).prop_map(|(identity, name, input, title)| {
            ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind: Some(ToolKind::Other) }
                .into()
        }),
        (any::<Option<u64>>(), prop::option::of(finite())).prop_map(|(input_tokens, cost_usd)| {
            let (cached_input_tokens, output_tokens, reasoning_tokens, context) = (None, input_tokens, None, None);
            UsageReportedPayload {
                input_tokens,
                cached_input_tokens,
                output_tokens,
                reasoning_tokens,
                cost_usd,
                context,
            }
            .into()
        }),
        (text(), json_value())
            .prop_filter("a known type is not another", |(name, _)| NormalizedEventType::from_name(name).is_none())
            .prop_map(|(name, payload)| EventBody::Other { name, payload }),
    ]
}

fn runtime_name() -> impl Strategy<Value = RuntimeName> {
    let id = text().prop_filter("an ACP agent has an id", |id| !id.is_empty());
    prop_oneof![Just(RuntimeName::Demo), id.prop_map(|id| RuntimeName::Acp(id.into()))]
}

prop_compose! {
    fn event()(
        schema_version in any::<u32>(),
        seq in any::<u64>(),
        millis in any::<i64>(),
        session_id in text(),
        task_id in prop::option::of(text()),
        name in runtime_name(),
        raw in prop::option::of(json_value()),
        body in body(),
    ) -> NormalizedEvent {
        NormalizedEvent {
            schema_version,
            seq,
            // Sixteen bits less: the calendar's range, not beyond it.
            time: Timestamp::from_millis(millis >> 16),
            trace: Trace { task_id: task_id.map(Into::into), ..Trace::session(session_id.into()) },
            runtime: RuntimeRef { raw, ..RuntimeRef::new(name) },
            body,
        }
    }
}

proptest! {
    #[test]
    fn every_event_is_one_line_and_is_read_back_as_it_was(event in event()) {
        let line = serde_json::to_string(&event).unwrap();
        prop_assert!(!line.contains(['\n', '\r']), "{}", line);
        let back: NormalizedEvent = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(&back, &event);
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), line);
    }
}
