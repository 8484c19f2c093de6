//! W3C trace context: the trace that a client's request belongs to, named by `traceparent` in its `_meta` or, over HTTP, in
//! its headers.

use uuid::Uuid;

use crate::raw_object::RawObject;

/// The name of the member of `_meta`, and of the header.
pub const TRACEPARENT: &str = "traceparent";

/// The trace and the span that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// 32 hex digits, not all zero.
    pub trace_id: String,
    /// The sender's span: 16 hex digits, not all zero.
    pub span_id: String,
}

impl TraceContext {
    /// The trace that a call's `_meta` names, as it is written there; `None` if it names none.
    pub(crate) fn text_of(params: &RawObject<'_>) -> Option<String> {
        params.object("_meta")?.text(TRACEPARENT)
    }

    /// Names the trace of a call in its `_meta`, unless the client did so: that of the header, else a new one.
    pub(crate) fn ensure(params: &mut RawObject<'_>, header: Option<&str>) {
        let mut meta = match params.get("_meta") {
            None => RawObject::default(),
            Some(_) => match params.object("_meta") {
                Some(meta) if meta.get(TRACEPARENT).is_none() => meta,
                _ => return,
            },
        };
        let given = header.filter(|header| Self::parse(header).is_some());
        meta.set_text(TRACEPARENT, &given.map_or_else(Self::new_text, ToOwned::to_owned));
        let meta = meta.to_raw();
        params.set("_meta", meta);
    }

    /// A trace that begins here. It is recorded by us, so the sampled flag is set.
    fn new_text() -> String {
        let (trace, span) = (Uuid::new_v4().simple().to_string(), Uuid::new_v4().simple().to_string());
        format!("00-{trace}-{}-01", &span[..16])
    }

    /// Reads a `traceparent`; `None` if it is none that the standard allows.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |part: &str, digits: usize| {
            part.len() == digits && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_id = |part: &str, digits| is_hex(part, digits) && part.bytes().any(|byte| byte != b'0');
        // Version 00 has exactly these parts; later ones may append some, and `ff` is none.
        let ends_well = match version {
            "00" => parts.next().is_none(),
            version => is_hex(version, 2) && version != "ff",
        };
        let is_valid = ends_well && is_id(trace_id, 32) && is_id(span_id, 16) && is_hex(flags, 2);
        is_valid.then(|| Self { trace_id: trace_id.into(), span_id: span_id.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    #[test]
    fn a_call_without_a_trace_gets_that_of_its_header_or_a_new_one() {
        let header = format!("00-{TRACE}-{SPAN}-01");
        let named = |params: serde_json::Value, header: Option<&str>| {
            let params = crate::raw_object::to_raw(&params);
            let mut params = RawObject::parse(&params).unwrap();
            TraceContext::ensure(&mut params, header);
            TraceContext::text_of(&params).unwrap()
        };
        let own = serde_json::json!({ "_meta": { TRACEPARENT: "its own", "a": 1 } });
        assert_eq!(named(own, Some(&header)), "its own");
        assert_eq!(named(serde_json::json!({ "_meta": { "a": 1 } }), Some(&header)), header);
        let new = named(serde_json::json!({}), Some("nonsense"));
        assert!(TraceContext::parse(&new).is_some() && new != header, "{new}");
    }

    #[test]
    fn only_what_the_standard_allows_is_read() {
        let expected = TraceContext { trace_id: TRACE.into(), span_id: SPAN.into() };
        for text in [format!("00-{TRACE}-{SPAN}-01"), format!("cc-{TRACE}-{SPAN}-01-later")] {
            assert_eq!(TraceContext::parse(&text), Some(expected.clone()), "{text}");
        }
        for text in [
            String::new(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-x"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
        ] {
            assert_eq!(TraceContext::parse(&text), None, "{text}");
        }
    }
}
