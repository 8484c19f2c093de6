//! The JSON Schemas that are published beside the OpenRPC document, generated and committed under `schemas/`.

use schemars::{Schema, schema_for};

use crate::conversation::Message;
use crate::element::Element;

/// Every published schema with its file name.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![("cdev_message", schema_for!(Message)), ("cdev_element", schema_for!(Element))]
}
