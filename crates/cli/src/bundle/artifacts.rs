//! The artifacts of a bundle: text without its secrets, and a reason for each one that is left out.

use std::collections::BTreeMap;
use std::io::{self, Write};

use roost_model::content::ArtifactRef;
use roost_model::ids::ArtifactId;
use roost_policy::{redact, redact_json};
use serde_json::{Value, json};

use super::Tar;
use crate::backend::{ArtifactLoss, Backend};

/// The largest artifact that goes into a bundle.
const MAX: usize = 1 << 20;

/// The artifacts that events refer to.
#[derive(Default)]
pub(crate) struct References(BTreeMap<ArtifactId, Value>);

impl References {
    /// Collects the references of one event, at any depth of its JSON.
    pub(super) fn collect(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(fields) => {
                if let Ok(reference) = serde_json::from_value::<ArtifactRef>(value.clone()) {
                    self.0.entry(reference.artifact_id.clone()).or_insert_with(|| json!(reference));
                }
                fields.values().for_each(|field| self.collect(field));
            }
            _ => {}
        }
    }
}

/// The artifacts as they go into the bundle.
#[derive(Default)]
pub(crate) struct BundledArtifacts {
    included: Vec<(ArtifactId, Value, String)>,
    skipped: Vec<Value>,
}

impl BundledArtifacts {
    /// Reads the referenced artifacts; each one that is left out gets a reason.
    pub(crate) async fn read(references: &References, store: &dyn Backend) -> Self {
        let mut bundled = Self::default();
        for (id, reference) in &references.0 {
            let reason = match store.artifact(id).await {
                Ok(bytes) if bytes.len() > MAX => "size_limit",
                Ok(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => {
                        bundled.included.push((id.clone(), reference.clone(), clean(&text)));
                        continue;
                    }
                    // What cannot be read cannot be looked through for secrets.
                    Err(_) => "binary",
                },
                Err(ArtifactLoss::Changed) => "changed",
                Err(ArtifactLoss::Missing) => "missing",
            };
            bundled.skipped.push(json!({ "artifact": reference, "reason": reason }));
        }
        bundled
    }

    /// How many artifacts are included and how many are skipped.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.included.len(), self.skipped.len())
    }

    pub(super) fn write<W: Write>(&self, tar: &mut Tar<W>) -> io::Result<()> {
        let included: Vec<_> = self.included.iter().map(|(_, reference, _)| reference).collect();
        tar.json("artifacts/manifest.json", &json!({ "included": included, "skipped": self.skipped }))?;
        for (id, reference, text) in &self.included {
            // Only ids that the store itself made come so far, so they are good file names.
            tar.bytes(&format!("artifacts/{id}.bin"), text.as_bytes())?;
            tar.json(&format!("artifacts/{id}.json"), reference)?;
        }
        Ok(())
    }
}

fn clean(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        // A number or a word is as good as any text.
        Ok(value @ (Value::Object(_) | Value::Array(_))) => redact_json(&value).to_string(),
        _ => redact(text).into_owned(),
    }
}
