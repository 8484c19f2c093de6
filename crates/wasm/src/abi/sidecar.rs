//! Names, types and descriptions of a module's functions, in a file that its author puts beside it.
//!
//! `add.wasm` has `add.tools.json`:
//! `{ "functions": { "add": { "description": "…", "params": [{ "name": "a", "type": "Int64" }], "result": "Int64" } } }`

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::type_syntax::{self, SIGNATURE_BUDGET, TypeBudget};
use super::value_type::{Parameter, Signature, ValueType};
use crate::regular_file;

/// A longer file is refused.
const MAX_BYTES: u64 = 1 << 20;

/// Why a file beside a module cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// It cannot be read, or is not what it should be.
    #[error("{path}: {reason}")]
    Unusable {
        /// The `.tools.json` file beside the module.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sidecar {
    functions: BTreeMap<String, SidecarFunction>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SidecarFunction {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    params: Vec<SidecarParameter>,
    #[serde(default)]
    result: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SidecarParameter {
    name: String,
    #[serde(rename = "type")]
    value_type: String,
    #[serde(default)]
    description: Option<String>,
}

/// The file that belongs to a module.
pub(crate) fn path_for(module: &Path) -> PathBuf {
    module.with_extension("tools.json")
}

/// The signatures that the file of a module has; none if there is no file. Blocks on the disk.
pub(crate) fn read(module: &Path) -> Result<BTreeMap<String, Signature>, SidecarError> {
    let path = path_for(module);
    let unusable = |reason: String| SidecarError::Unusable { path: path.display().to_string(), reason };
    let bytes = match regular_file::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        opened => opened.and_then(|file| regular_file::read(file, MAX_BYTES)),
    };
    let bytes = bytes.map_err(|error| unusable(error.to_string()))?;
    let sidecar: Sidecar = serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))?;
    let parse = |function: &str, text: &str, budget: &mut TypeBudget| -> Result<ValueType, SidecarError> {
        type_syntax::parse_unnamed(text, budget).ok_or_else(|| match budget.is_exceeded() {
            true => unusable(format!("the types of {function} are too large")),
            false => {
                unusable(format!("{function}: \"{text}\" is no type; write Int64, String, List<Bool> or the like"))
            }
        })
    };
    let signatures = sidecar.functions.into_iter().map(|(name, function)| {
        let mut budget = TypeBudget::new(SIGNATURE_BUDGET);
        let parameter = |one: SidecarParameter| -> Result<Parameter, SidecarError> {
            let value_type = parse(&name, &one.value_type, &mut budget)?;
            Ok(Parameter { name: one.name, value_type, description: one.description })
        };
        let parameters = function.params.into_iter().map(parameter).collect::<Result<_, _>>()?;
        let result = function.result.as_deref();
        let result = result.map_or(Ok(ValueType::Unit), |text| parse(&name, text, &mut budget))?;
        let signature = Signature { parameters, results: vec![result], description: function.description };
        Ok((name, signature))
    });
    signatures.collect()
}
