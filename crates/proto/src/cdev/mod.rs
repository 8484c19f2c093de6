//! stub
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// stub
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {}
/// stub
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Element {}
