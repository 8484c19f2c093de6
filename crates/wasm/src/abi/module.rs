//! Core modules: plain exports, and Clarity's conventions on top of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wasmtime::{ExternType, Func, Instance, InstancePre, Linker, Module, Store, Val};

use super::arguments::{self, ARGUMENT_TYPES, RESULT_TYPE};
use super::clarity::memory::{Guest, Slot};
use super::clarity::value::{Decoder, EncodeError, decode_number, encode, encode_number};
use super::value_type::{Parameter, Signature, ValueType};
use super::{Abi, Function, Interrupted, Unsupported, clarity, structured_schema, type_syntax};
use crate::outcome::HostTrap;
use crate::store::{CallState, CallStore};

/// Exports that begin with this belong to a compiler's runtime.
const HIDDEN_PREFIX: &str = "__";
/// The function that prepares an instance, if a module has one.
const INITIALIZE: &str = "_initialize";
/// Where compilers say that free memory begins.
const HEAP_BASE: &str = "__heap_base";
/// An import of AssemblyScript, which makes no Clarity module.
const ABORT: &str = "abort";

/// A core module that is ready to be called.
pub(crate) struct ModuleProgram {
    prepared: InstancePre<CallState>,
    signatures: BTreeMap<String, ExportedSignature>,
    initializes: bool,
    pub(crate) abi: Abi,
    pub(crate) unsupported: Vec<Unsupported>,
}

struct ExportedSignature {
    signature: Signature,
    /// Whether its author wrote it; else a caller may say which types it assumes.
    declared: bool,
    parameters: Vec<wasmtime::ValType>,
    results: Vec<wasmtime::ValType>,
}

/// What people wrote about a module's functions, beside what the module tells.
#[derive(Debug, Default)]
pub(crate) struct DeclaredSignatures {
    /// From the file beside the module: must fit.
    pub(crate) sidecar: BTreeMap<String, Signature>,
    /// From the source, which may be newer than the module: used where it fits.
    pub(crate) source: BTreeMap<String, Signature>,
}

/// Why a module cannot be prepared.
#[derive(Debug)]
pub(crate) enum PrepareError {
    /// It needs imports that we do not offer, each as `module.name`.
    Imports(Vec<String>),
    /// The file beside it does not fit it.
    Sidecar(String),
    /// The engine refuses it.
    Engine(wasmtime::Error),
}

impl From<wasmtime::Error> for PrepareError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Engine(error)
    }
}

impl ModuleProgram {
    pub(crate) fn prepare(
        module: &Module,
        linker: &Linker<CallState>,
        store: &mut CallStore,
        declared: DeclaredSignatures,
    ) -> Result<Self, PrepareError> {
        let missing: Vec<_> = module
            .imports()
            .filter(|import| linker.get_by_import(&mut store.store, import).is_none())
            .map(|import| format!("{}.{}", import.module(), import.name()))
            .collect();
        if !missing.is_empty() {
            return Err(PrepareError::Imports(missing));
        }
        let prepared = linker.instantiate_pre(module)?;
        let functions = module.exports().filter_map(|export| match export.ty() {
            ExternType::Func(function) => Some((export.name().to_owned(), function)),
            _ => None,
        });
        let (mut signatures, mut unsupported, mut initializes) = (BTreeMap::new(), Vec::new(), false);
        for (name, function) in functions {
            let (parameters, results): (Vec<_>, Vec<_>) = (function.params().collect(), function.results().collect());
            if name == INITIALIZE && parameters.is_empty() && results.is_empty() {
                initializes = true;
            } else if !name.starts_with(HIDDEN_PREFIX) {
                match ExportedSignature::new(&name, &declared, parameters, results)? {
                    Some(signature) => _ = signatures.insert(name, signature),
                    None => unsupported.push(Unsupported { name, reason: "it passes vectors or references".into() }),
                }
            }
        }
        let unknown = declared.sidecar.keys().find(|name| !signatures.contains_key(*name));
        if let Some(name) = unknown {
            return Err(PrepareError::Sidecar(format!("the module exports no function \"{name}\"")));
        }
        Ok(Self { prepared, signatures, initializes, abi: abi_of(module), unsupported })
    }

    pub(crate) fn functions(&self) -> Vec<Function> {
        let describe = |(name, exported): (&String, &ExportedSignature)| Function {
            name: name.clone(),
            signature: format!("{name}{}", exported.signature),
            description: exported.signature.description.clone(),
            input_schema: exported.signature.input_schema(),
            output_schema: structured_schema(exported.signature.result_schema()),
        };
        self.signatures.iter().map(describe).collect()
    }

    /// Makes an instance and lets it prepare itself.
    pub(crate) async fn instantiate(&self, store: &mut Store<CallState>) -> wasmtime::Result<Instance> {
        let instance = self.prepared.instantiate_async(&mut *store).await?;
        if self.initializes
            && let Some(initialize) = instance.get_func(&mut *store, INITIALIZE)
        {
            initialize.call_async(&mut *store, &[], &mut []).await?;
        }
        Ok(instance)
    }

    /// Calls a function of a new instance.
    pub(crate) async fn call(
        &self,
        store: &mut CallStore,
        function: &str,
        given: &Map<String, Value>,
    ) -> Result<Value, Interrupted> {
        let unknown = || HostTrap::fault(format!("the module has no function \"{function}\""));
        let exported = self.signatures.get(function).ok_or_else(unknown)?;
        let assumed = exported.assumed(given).map_err(Interrupted::Arguments)?;
        let signature = assumed.as_ref().unwrap_or(&exported.signature);
        let names: Vec<_> = signature.parameters.iter().map(Parameter::as_name).collect();
        let values = arguments::in_order(&names, given).map_err(Interrupted::Arguments)?;
        // What needs no memory is looked at first, so that most mistakes cost no instance.
        for (parameter, value) in signature.parameters.iter().zip(&values) {
            if !parameter.value_type.is_pointer() && parameter.value_type != ValueType::Unit {
                encode_number(&parameter.value_type, value)
                    .map_err(|reason| Interrupted::Arguments(format!("{}: {reason}", parameter.name)))?;
            }
        }
        let mut mismatch = None;
        let result = store.run(async |store| {
            let instance = self.instantiate(store).await?;
            let called = instance.get_func(&mut *store, function).ok_or_else(unknown)?;
            match encode_all(store, &instance, signature, &values) {
                Ok(arguments) => invoke(store, &instance, &called, signature, &arguments).await,
                Err(EncodeError::Room(error)) => Err(error),
                Err(EncodeError::Mismatch(reason)) => {
                    mismatch = Some(reason);
                    Ok(Value::Null)
                }
            }
        });
        let result = result.await?;
        mismatch.map_or(Ok(result), |reason| Err(Interrupted::Arguments(reason)))
    }
}

impl ExportedSignature {
    /// What is known about a function; `None` if it cannot be called with JSON.
    fn new(
        name: &str,
        declared: &DeclaredSignatures,
        parameters: Vec<wasmtime::ValType>,
        results: Vec<wasmtime::ValType>,
    ) -> Result<Option<Self>, PrepareError> {
        let fits = |signature: &&Signature| signature.fits(&parameters, &results);
        let wanted = declared.sidecar.get(name);
        if let Some(signature) = wanted.filter(|signature| !fits(signature)) {
            let actual = Signature::from_wasm(&parameters, &results).map(|actual| format!(": it is {actual}"));
            let reason = format!("{name}{signature} does not fit the module{}", actual.unwrap_or_default());
            return Err(PrepareError::Sidecar(reason));
        }
        let written = wanted.or_else(|| declared.source.get(name).filter(fits)).cloned();
        let is_declared = written.is_some();
        let signature = written.or_else(|| Signature::from_wasm(&parameters, &results));
        Ok(signature.map(|signature| Self { signature, declared: is_declared, parameters, results }))
    }

    /// The signature that a client of Clarity assumes, if it sends types and nobody declared others.
    fn assumed(&self, given: &Map<String, Value>) -> Result<Option<Signature>, String> {
        let (parameters, result) = (given.get(ARGUMENT_TYPES), given.get(RESULT_TYPE));
        if self.declared || parameters.is_none() && result.is_none() {
            return Ok(None);
        }
        let parse = |value: &Value| type_syntax::from_json(value).ok_or_else(|| format!("{value} is no type"));
        let mut signature = self.signature.clone();
        if let Some(types) = parameters {
            let types = types.as_array().filter(|types| types.len() == signature.parameters.len());
            let types = types.ok_or_else(|| format!("\"{ARGUMENT_TYPES}\" must have a type for each parameter"))?;
            for (parameter, value) in signature.parameters.iter_mut().zip(types) {
                parameter.value_type = parse(value)?;
            }
        }
        if let Some(value) = result {
            signature.results = vec![parse(value)?];
        }
        match signature.fits(&self.parameters, &self.results) {
            true => Ok(Some(signature)),
            false => Err(format!("{signature} does not fit the function, which is {}", self.signature)),
        }
    }
}

fn encode_all(
    store: &mut Store<CallState>,
    instance: &Instance,
    signature: &Signature,
    values: &[&Value],
) -> Result<Vec<Val>, EncodeError> {
    let mut encoded = Vec::with_capacity(values.len());
    for (parameter, value) in signature.parameters.iter().zip(values) {
        let slot = match parameter.value_type.is_pointer() {
            true => {
                let mut guest = Guest::of_instance(wasmtime::AsContextMut::as_context_mut(store), instance)?;
                encode(&mut guest, &parameter.value_type, value)
            }
            false if parameter.value_type == ValueType::Unit => continue,
            false => encode_number(&parameter.value_type, value).map_err(EncodeError::Mismatch),
        };
        let named = |error| match error {
            EncodeError::Mismatch(reason) => EncodeError::Mismatch(format!("{}: {reason}", parameter.name)),
            room => room,
        };
        encoded.push(match slot.map_err(named)? {
            Slot::I32(value) => Val::I32(value),
            Slot::I64(value) => Val::I64(value),
            Slot::F32(value) => Val::F32(value.to_bits()),
            Slot::F64(value) => Val::F64(value.to_bits()),
        });
    }
    Ok(encoded)
}

async fn invoke(
    store: &mut Store<CallState>,
    instance: &Instance,
    function: &Func,
    signature: &Signature,
    arguments: &[Val],
) -> wasmtime::Result<Value> {
    let count = signature.results.iter().filter(|one| one.wasm().is_some()).count();
    let mut results = vec![Val::I32(0); count];
    function.call_async(&mut *store, arguments, &mut results).await?;
    let decoded = match signature.results.iter().any(ValueType::is_pointer) {
        false => signature.results.iter().zip(&results).map(|(one, value)| decode_number(one, value)).collect(),
        true => {
            let mut guest = Guest::of_instance(wasmtime::AsContextMut::as_context_mut(store), instance)?;
            let mut decoder = Decoder::new(&mut guest);
            let decode = |(one, value): (&ValueType, &Val)| decoder.decode(one, value);
            signature.results.iter().zip(&results).map(decode).collect::<wasmtime::Result<Vec<_>>>()?
        }
    };
    match (signature.results.as_slice(), decoded) {
        ([ValueType::Result(..)], mut one) => returned(one.pop().unwrap_or_default()),
        (_, mut values) if values.len() < 2 => Ok(values.pop().unwrap_or_default()),
        (_, values) => Ok(values.into()),
    }
}

/// The value of a result; its error is an error of the tool.
fn returned(result: Value) -> wasmtime::Result<Value> {
    let Value::Object(mut cases) = result else { return Ok(result) };
    match cases.remove("err") {
        Some(Value::String(message)) => Err(HostTrap::Returned(message).into()),
        Some(error) => Err(HostTrap::Returned(error.to_string()).into()),
        None => Ok(cases.remove("ok").unwrap_or_default()),
    }
}

/// Which conventions a module follows: Clarity's if it uses a host function of the language or says where its heap is.
fn abi_of(module: &Module) -> Abi {
    let of_language =
        module.imports().any(|import| import.module() == clarity::IMPORT_MODULE && import.name() != ABORT);
    let has_heap = matches!(module.get_export(HEAP_BASE), Some(ExternType::Global(_)));
    if of_language || has_heap { Abi::Clarity } else { Abi::Core }
}
