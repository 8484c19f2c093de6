//! How a module is spoken to: which functions it exports, how values get in and out.

pub(crate) mod arguments;
pub(crate) mod clarity;
pub(crate) mod clarity_source;
pub(crate) mod component;
pub(crate) mod module;
pub(crate) mod sidecar;
pub(crate) mod type_syntax;
pub(crate) mod value_type;

use std::fmt;

use serde_json::{Map, Value};

/// The conventions that a module follows, as its bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// A core module with plain numeric exports.
    Core,
    /// A core module with Clarity's strings, lists and host functions.
    Clarity,
    /// A component with WIT types.
    Component,
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Core => "core",
            Self::Clarity => "clarity",
            Self::Component => "component",
        })
    }
}

/// An exported function that can be called as a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    /// Its name as people and agents see it; `interface#function` for a function of an interface.
    pub(crate) name: String,
    /// Its signature in the module's own terms, for people.
    pub(crate) signature: String,
    /// What its author says about it.
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Map<String, Value>,
    pub(crate) output_schema: Map<String, Value>,
}

/// An export that cannot be called as a tool, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsupported {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// The result of a function as structured content: always an object with the one member `result`.
pub(crate) fn structured(result: Value) -> Map<String, Value> {
    Map::from_iter([("result".to_owned(), result)])
}

/// The schema of [`structured`].
pub(crate) fn structured_schema(result: Value) -> Map<String, Value> {
    crate::schema::object(structured(result), vec!["result".into()])
}

/// Why a function gave no result.
#[derive(Debug)]
pub(crate) enum Interrupted {
    /// The arguments do not fit its signature: it was not called.
    Arguments(String),
    /// It was called, or its instance made, and failed.
    Failed(wasmtime::Error),
}

impl From<wasmtime::Error> for Interrupted {
    fn from(error: wasmtime::Error) -> Self {
        Self::Failed(error)
    }
}
