//! The APIs that the scripted model speaks: each one parses requests and renders answers.

use serde_json::Value;

use super::chat::Chat;
use super::gemini::Gemini;
use super::messages::Messages;
use super::model_request::ModelRequest;
use super::responses::Responses;
use super::script::Act;
use super::sse::{Ids, SseFrame};

/// An API of a provider of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages API, which Claude Code uses.
    Messages,
    /// OpenAI's Responses API, which Codex uses.
    Responses,
    /// OpenAI's Chat Completions API, which OpenCode uses.
    Chat,
    /// Google's generateContent API, which the Gemini CLI uses.
    Gemini,
}

impl Api {
    pub(super) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Messages => &Messages,
            Self::Responses => &Responses,
            Self::Chat => &Chat,
            Self::Gemini => &Gemini,
        }
    }
}

/// A translation from and to one API's JSON, without any state.
pub(super) trait Dialect: Sync {
    /// Parses the body of a request. What is missing or has another form is left empty.
    fn parse_request(&self, body: &Value) -> ModelRequest;

    /// Renders an answer as one JSON document, for a request without streaming.
    fn document(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Value;

    /// Renders an answer as a stream of events, its last one included.
    fn stream(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Vec<SseFrame>;

    /// Renders the beginning of an answer and, as its last event, an error of the provider.
    fn failing(&self, model: &str, ids: &mut Ids) -> Vec<SseFrame>;

    /// The body that the provider sends with this HTTP status of refusal.
    fn refusal(&self, status: u16) -> Value;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::model_request::OfferedTool;
    use super::*;

    const APIS: [Api; 4] = [Api::Messages, Api::Responses, Api::Chat, Api::Gemini];

    /// One conversation, as each API has it: an old prompt with its result, then a new one with an image and a result.
    fn conversation(api: Api) -> Value {
        let schema = json!({ "type": "object", "properties": { "command": { "type": "string" } } });
        let image = "data:image/png;base64,AAAA";
        match api {
            Api::Messages => json!({
                "tools": [{ "name": "run", "input_schema": schema }],
                "messages": [
                    { "role": "user", "content": "SCRIPT:text" },
                    { "role": "user", "content": [{ "type": "tool_result", "content": "old" }] },
                    { "role": "assistant", "content": [{ "type": "text", "text": "SCRIPT:think is not for me" }] },
                    { "role": "user", "content": [
                        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } },
                        { "type": "text", "text": "SCRIPT:shell" },
                    ] },
                    { "role": "user", "content": [
                        { "type": "tool_result", "content": [{ "type": "text", "text": "done" }] },
                        { "type": "text", "text": "NOTE:blue" },
                    ] },
                ],
            }),
            Api::Responses => json!({
                "tools": [{ "type": "function", "name": "run", "parameters": schema }],
                "input": [
                    { "role": "user", "content": "SCRIPT:text" },
                    { "type": "function_call_output", "output": "old" },
                    { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "SCRIPT:think" }] },
                    { "type": "message", "role": "user", "content": [
                        { "type": "input_image", "image_url": image }, { "type": "input_text", "text": "SCRIPT:shell" },
                    ] },
                    { "type": "custom_tool_call_output", "output": "done" },
                    { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "NOTE:blue" }] },
                ],
            }),
            Api::Chat => json!({
                "tools": [{ "type": "function", "function": { "name": "run", "parameters": schema } }],
                "messages": [
                    { "role": "user", "content": "SCRIPT:text" },
                    { "role": "tool", "content": "old" },
                    { "role": "assistant", "content": "SCRIPT:think is not for me" },
                    { "role": "user", "content": [
                        { "type": "image_url", "image_url": { "url": image } }, { "type": "text", "text": "SCRIPT:shell" },
                    ] },
                    { "role": "tool", "content": "done" },
                    { "role": "user", "content": "NOTE:blue" },
                ],
            }),
            Api::Gemini => json!({
                "tools": [{ "functionDeclarations": [{ "name": "run", "parametersJsonSchema": schema }] }],
                "contents": [
                    { "role": "user", "parts": [{ "text": "SCRIPT:text" }] },
                    { "role": "user", "parts": [{ "functionResponse": { "response": "old" } }] },
                    { "role": "model", "parts": [{ "text": "SCRIPT:think is not for me" }] },
                    { "role": "user", "parts": [
                        { "inlineData": { "mimeType": "image/png", "data": "AAAA" } }, { "text": "SCRIPT:shell" },
                    ] },
                    { "role": "user", "parts": [{ "functionResponse": { "response": "done" } }, { "text": "NOTE:blue" }] },
                ],
            }),
        }
    }

    #[test]
    fn the_same_conversation_is_the_same_question_in_every_api() {
        for api in APIS {
            // Google's results are documents, and are shown as such.
            let result = if api == Api::Gemini { "\"done\"" } else { "done" };
            let run = OfferedTool { name: "run".into(), arguments: vec!["command".into()], ..OfferedTool::default() };
            let expected = ModelRequest {
                script: Some("shell".into()),
                prompts: vec!["SCRIPT:text".into(), "SCRIPT:shell".into()],
                results: vec![result.into()],
                notes: vec!["blue".into()],
                images: vec!["image/png".into()],
                files: Vec::new(),
                tools: vec![run],
                form: None,
            };
            assert_eq!(api.dialect().parse_request(&conversation(api)), expected, "{api:?}");
        }
    }

    #[test]
    fn codex_offers_tools_in_groups_as_text_and_in_the_conversation() {
        let exec = json!({ "type": "custom", "name": "exec" });
        let group = json!({ "type": "namespace", "name": "functions", "tools": [exec] });
        let request = Api::Responses.dialect().parse_request(&json!({
            "tools": [{ "type": "web_search" }],
            "input": [{ "type": "additional_tools", "role": "developer", "tools": [group] }],
        }));
        let search = OfferedTool { name: "web_search".into(), ..OfferedTool::default() };
        let exec = OfferedTool {
            name: "exec".into(),
            namespace: Some("functions".into()),
            takes_text: true,
            ..OfferedTool::default()
        };
        assert_eq!(request.tools, [search, exec]);
    }

    #[test]
    fn gemini_may_want_a_document_for_an_answer() {
        let schema = json!({ "type": "object", "properties": { "next_speaker": { "enum": ["user", "model"] } } });
        let config = json!({ "responseMimeType": "application/json", "responseJsonSchema": schema });
        let request = Api::Gemini.dialect().parse_request(&json!({ "contents": [], "generationConfig": config }));
        assert_eq!(request.form, Some(schema));
    }

    #[test]
    fn an_answer_is_what_each_api_makes_of_it() {
        let tool = |name: &str| OfferedTool { name: name.into(), ..OfferedTool::default() };
        let acts = [
            Act::Think(vec!["Hm, ".into(), "so.".into()]),
            Act::Say(vec!["Two ".into(), "calls.".into()]),
            Act::Call(tool("run"), json!({ "command": "echo hi > out.txt" })),
            Act::Call(OfferedTool { namespace: Some("files".into()), ..tool("read") }, json!({})),
        ];
        let program = OfferedTool { namespace: Some("functions".into()), takes_text: true, ..tool("exec") };
        let texts = [Act::Call(program, "await something()".into())];
        for api in APIS {
            let dialect = api.dialect();
            let stream = |frames: Vec<SseFrame>| {
                frames.iter().map(|frame| frame.bytes.replace("\n\n", "\n")).collect::<String>()
            };
            let mut golden = stream(dialect.stream(&acts, "model-1", &mut Ids::for_answer("s")));
            golden += "\n--- whole\n";
            golden +=
                &serde_json::to_string_pretty(&dialect.document(&acts, "model-1", &mut Ids::for_answer("w"))).unwrap();
            golden += "\n--- failing\n";
            golden += &stream(dialect.failing("model-1", &mut Ids::for_answer("f")));
            golden += "\n--- refused\n";
            golden += &[400, 401, 429, 500].map(|status| format!("{}\n", dialect.refusal(status))).concat();
            if api == Api::Responses {
                golden += "\n--- a tool that takes text\n";
                golden += &stream(dialect.stream(&texts, "model-1", &mut Ids::for_answer("t")));
            }
            insta::assert_snapshot!(format!("{api:?}").to_lowercase(), golden);
        }
    }
}
