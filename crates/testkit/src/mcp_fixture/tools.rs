//! What the tools do.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Exchange, FixtureEra, Outcome, PNG, Stop, WAV, error, question, text};

/// Between the steps of a tool that takes a while, as the suite wants it.
const STEP: Duration = Duration::from_millis(50);
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

impl Exchange<'_> {
    pub(super) async fn call_tool(&self) -> Outcome {
        let arguments = &self.params["arguments"];
        match self.params["name"].as_str().unwrap_or_default() {
            "test_simple_text" | "test_extra_tool" => Ok(text("This is a simple text response for testing.")),
            "test_image_content" => Ok(json!({ "content": [image()] })),
            "test_audio_content" => {
                Ok(json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] }))
            }
            "test_embedded_resource" => {
                let content = "This is an embedded resource content.";
                let resource = json!({ "uri": "test://embedded-resource", "mimeType": "text/plain", "text": content });
                Ok(json!({ "content": [{ "type": "resource", "resource": resource }] }))
            }
            "test_multiple_content_types" => {
                let data = json!({ "test": "data", "value": 123 }).to_string();
                let resource =
                    json!({ "uri": "test://mixed-content-resource", "mimeType": "application/json", "text": data });
                let first = json!({ "type": "text", "text": "Multiple content types test:" });
                Ok(json!({ "content": [first, image(), { "type": "resource", "resource": resource }] }))
            }
            "test_tool_with_logging" | "test_logging_tool" => self.log().await,
            "test_tool_with_progress" => self.progress().await,
            "test_error_handling" => {
                let mut result = text("This tool intentionally returns an error for testing");
                result["isError"] = true.into();
                Ok(result)
            }
            "test_reconnection" => {
                sleep(STEP).await;
                Ok(text("Reconnection test completed"))
            }
            "test_sampling" => {
                let prompt = arguments["prompt"].as_str().unwrap_or_default();
                let answer = self.input("sampling", "sampling/createMessage", sampling(prompt, 100)).await?;
                Ok(text(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default())))
            }
            "test_elicitation" => self.elicit(arguments["message"].as_str().unwrap_or_default()).await,
            "test_elicitation_sep1034_defaults" => self.elicit_schema("Please check the defaults", defaults()).await,
            "test_elicitation_sep1330_enums" => self.elicit_schema("Please choose", enums()).await,
            "test_trigger_tool_change" => {
                self.fixture.has_extra_tool.fetch_xor(true, Ordering::Relaxed);
                self.fixture.say("notifications/tools/list_changed", json!({}));
                Ok(text("The tools have changed"))
            }
            "test_trigger_prompt_change" => {
                self.fixture.has_extra_prompt.fetch_xor(true, Ordering::Relaxed);
                self.fixture.say("notifications/prompts/list_changed", json!({}));
                Ok(text("The prompts have changed"))
            }
            "test_custom_header" => Ok(text(format!("region: {}", arguments["region"]))),
            "json_schema_2020_12_tool" => Ok(text(arguments.to_string())),
            name => self.call_interactive(name).await,
        }
    }

    /// Tools of the modern era, which need something of the client.
    async fn call_interactive(&self, name: &str) -> Outcome {
        match name {
            "test_missing_capability" if !self.can("sampling") => {
                let needed = json!({ "requiredCapabilities": { "sampling": {} } });
                let error = json!({ "code": -32021, "message": "This tool needs sampling", "data": needed });
                Err(Stop::Error(error))
            }
            "test_missing_capability" => Ok(text("The client can sample")),
            "test_streaming_elicitation" => {
                let answer = self.input("name", "elicitation/create", question("What is your name?", "name")).await?;
                Ok(text(answer["content"].to_string()))
            }
            "test_input_required_result_elicitation" => {
                let wanted = question("What is your name?", "name");
                let answer = self.input("user_name", "elicitation/create", wanted).await?;
                Ok(text(format!("Hello, {}!", answer["content"]["name"].as_str().unwrap_or_default())))
            }
            "test_input_required_result_sampling" => {
                let wanted = sampling("What is the capital of France?", 100);
                let answer = self.input("capital_question", "sampling/createMessage", wanted).await?;
                Ok(text(answer["content"]["text"].as_str().unwrap_or_default()))
            }
            "test_input_required_result_list_roots" => {
                let answer = self.input("client_roots", "roots/list", json!({})).await?;
                Ok(text(answer["roots"].to_string()))
            }
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
                let state = "state-of-the-fixture";
                if self.params.get("requestState").is_some_and(|sent| sent != state) {
                    return Err(error(-32602, "requestState was changed").into());
                }
                self.inputs(&[("confirm", "elicitation/create", question("Please confirm", "ok"))], Some(state))
                    .await?;
                Ok(text("state-ok"))
            }
            "test_input_required_result_multiple_inputs" => {
                let wanted = [
                    ("user_name", "elicitation/create", question("What is your name?", "name")),
                    ("greeting", "sampling/createMessage", sampling("Generate a greeting", 50)),
                    ("client_roots", "roots/list", json!({})),
                ];
                let answers = self.inputs(&wanted, Some("all-three")).await?;
                Ok(text(answers[0]["content"].to_string()))
            }
            "test_input_required_result_multi_round" => {
                if self.params["requestState"] != "round-2" {
                    let wanted = [("step1", "elicitation/create", question("Step 1: What is your name?", "name"))];
                    self.inputs(&wanted, Some("round-1")).await?;
                }
                let wanted =
                    [("step2", "elicitation/create", question("Step 2: What is your favorite color?", "color"))];
                let answers = self.inputs(&wanted, Some("round-2")).await?;
                Ok(text(answers[0]["content"].to_string()))
            }
            "test_input_required_result_capabilities" => {
                let greeting = ("greeting", "sampling/createMessage", sampling("Generate a greeting", 50));
                let name = ("name", "elicitation/create", question("What is your name?", "name"));
                if self.fixture.era == FixtureEra::Legacy {
                    // A client that cannot be asked says so.
                    let _ = self.inputs(&[name], None).await;
                    self.inputs(&[greeting], None).await?;
                    return Ok(text("done"));
                }
                let all = [("elicitation", name), ("sampling", greeting)];
                let wanted: Vec<_> =
                    all.into_iter().filter(|(capability, _)| self.can(capability)).map(|(_, one)| one).collect();
                self.inputs(&wanted, None).await?;
                Ok(text("done"))
            }
            name => Err(error(-32602, &format!("Unknown tool: {name}")).into()),
        }
    }

    /// Three log lines, if the client wants them.
    async fn log(&self) -> Outcome {
        let is_wanted = self.fixture.era == FixtureEra::Legacy || self.params["_meta"].get(LOG_LEVEL).is_some();
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            if is_wanted {
                self.client.notify("notifications/message", json!({ "level": "info", "data": line })).await;
            }
            sleep(STEP).await;
        }
        Ok(text("Tool with logging executed successfully"))
    }

    async fn progress(&self) -> Outcome {
        let token = &self.params["_meta"]["progressToken"];
        for progress in [0, 50, 100] {
            if !token.is_null() {
                let params = json!({ "progressToken": token, "progress": progress, "total": 100 });
                self.client.notify("notifications/progress", params).await;
            }
            sleep(STEP).await;
        }
        Ok(text("Tool with progress executed successfully"))
    }

    async fn elicit(&self, message: &str) -> Outcome {
        let schema = json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" },
            },
            "required": ["username", "email"],
        });
        let wanted = json!({ "message": message, "requestedSchema": schema });
        let answer = self.input("user", "elicitation/create", wanted).await?;
        Ok(text(format!("User response: action: {}, content: {}", answer["action"], answer["content"])))
    }

    async fn elicit_schema(&self, message: &str, properties: Value) -> Outcome {
        let schema = json!({ "type": "object", "properties": properties, "required": [] });
        let wanted = json!({ "message": message, "requestedSchema": schema });
        let answer = self.input("user", "elicitation/create", wanted).await?;
        let action = answer["action"].as_str().unwrap_or_default();
        Ok(text(format!("Elicitation completed: action={action}, content={}", answer["content"])))
    }
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

pub(super) fn sampling(prompt: &str, tokens: u32) -> Value {
    json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }], "maxTokens": tokens })
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "description": "User name", "default": "John Doe" },
        "age": { "type": "integer", "description": "User age", "default": 30 },
        "score": { "type": "number", "description": "User score", "default": 95.5 },
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": { "type": "boolean", "description": "Verification status", "default": true },
    })
}

fn enums() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" },
    ]);
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}
