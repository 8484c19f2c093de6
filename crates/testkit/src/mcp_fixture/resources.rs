//! What the resources hold.

use serde_json::json;

use super::{Exchange, FixtureEra, Outcome, PNG, Stop};

impl Exchange<'_> {
    pub(super) fn read_resource(&self) -> Outcome {
        let uri = self.params["uri"].as_str().unwrap_or_default();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri, id) {
            ("test://static-text", _) => {
                json!({ "mimeType": "text/plain", "text": "This is the content of the static text resource." })
            }
            ("test://static-binary", _) => json!({ "mimeType": "image/png", "blob": PNG }),
            ("test://watched-resource", _) => json!({ "mimeType": "text/plain", "text": "Watch me." }),
            (_, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "mimeType": "application/json", "text": data.to_string() })
            }
            _ => {
                let code = if self.fixture.era == FixtureEra::Modern { -32602 } else { -32002 };
                let error = json!({ "code": code, "message": "Resource not found", "data": { "uri": uri } });
                return Err(Stop::Error(error));
            }
        };
        let mut content = content;
        content["uri"] = uri.into();
        Ok(json!({ "contents": [content] }))
    }
}
