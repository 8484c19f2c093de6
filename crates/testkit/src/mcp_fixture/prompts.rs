//! What the prompts say.

use serde_json::{Value, json};

use super::{Exchange, Outcome, PNG, error, question};

fn said(content: Value) -> Value {
    json!({ "role": "user", "content": content })
}

fn said_text(text: &str) -> Value {
    said(json!({ "type": "text", "text": text }))
}

impl Exchange<'_> {
    pub(super) async fn get_prompt(&self) -> Outcome {
        let argument = |name: &str| self.params["arguments"][name].as_str().unwrap_or_default();
        let messages = match self.params["name"].as_str().unwrap_or_default() {
            "test_simple_prompt" | "test_extra_prompt" => vec![said_text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (arg1, arg2) = (argument("arg1"), argument("arg2"));
                vec![said_text(&format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let text = "Embedded resource content for testing.";
                let resource = json!({ "uri": argument("resourceUri"), "mimeType": "text/plain", "text": text });
                vec![
                    said(json!({ "type": "resource", "resource": resource })),
                    said_text("Please process the embedded resource above."),
                ]
            }
            "test_prompt_with_image" => vec![
                said(json!({ "type": "image", "data": PNG, "mimeType": "image/png" })),
                said_text("Please analyze the image above."),
            ],
            "test_input_required_result_prompt" => {
                let wanted = question("What context should the prompt use?", "context");
                let answer = self.input("user_context", "elicitation/create", wanted).await?;
                vec![said_text(&format!("Use this context: {}", answer["content"]["context"]))]
            }
            name => return Err(error(-32602, &format!("Unknown prompt: {name}")).into()),
        };
        Ok(json!({ "messages": messages }))
    }
}
