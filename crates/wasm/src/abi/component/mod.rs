//! Components: typed functions as WIT describes them, with the WASI interfaces and nothing behind them.

pub(crate) mod types;
pub(crate) mod value;
pub(crate) mod wasi;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wasmtime::component::types::{ComponentFunc, ComponentItem};
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker, Type, Val};
use wasmtime::{Engine, Store};

use super::arguments::{self, ParameterName};
use super::module::PrepareError;
use super::{Function, Interrupted, Unsupported, structured_schema};
use crate::outcome::HostTrap;
use crate::store::{CallState, CallStore};

/// The packages of WASI that a component may import; behind them is only what is granted.
const OFFERED: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// Whether an interface of this name is there for components.
pub(crate) fn is_offered(name: &str) -> bool {
    OFFERED.iter().any(|prefix| name.starts_with(prefix))
}

/// A component that is ready to be called.
pub(crate) struct ComponentProgram {
    prepared: InstancePre<CallState>,
    functions: BTreeMap<String, ExportedFunction>,
    pub(crate) unsupported: Vec<Unsupported>,
}

struct ExportedFunction {
    index: ComponentExportIndex,
    parameters: Vec<(String, Type)>,
    result: Option<Type>,
}

impl ComponentProgram {
    pub(crate) fn prepare(component: &Component, linker: &Linker<CallState>) -> Result<Self, PrepareError> {
        let engine = component.engine();
        let component_type = component.component_type();
        // A type alone asks for nothing.
        let asks = |item: &ComponentItem| !matches!(item, ComponentItem::Type(_));
        let missing: Vec<_> = component_type
            .imports(engine)
            .filter(|(name, import)| !is_offered(name) && asks(&import.ty))
            .map(|(name, _)| name.to_owned())
            .collect();
        if !missing.is_empty() {
            return Err(PrepareError::Imports(missing));
        }
        let prepared = linker.instantiate_pre(component)?;
        let (mut functions, mut unsupported) = (BTreeMap::new(), Vec::new());
        for export in exported(component, engine) {
            let Export { name, index, function } = export;
            let parameters: Vec<_> = function.params().map(|(name, one)| (name.to_owned(), one)).collect();
            let result = function.results().next();
            match parameters.iter().map(|(_, one)| one).chain(&result).find_map(types::unsupported) {
                Some(reason) => unsupported.push(Unsupported { name, reason: reason.into() }),
                None => _ = functions.insert(name, ExportedFunction { index, parameters, result }),
            }
        }
        Ok(Self { prepared, functions, unsupported })
    }

    pub(crate) fn functions(&self) -> Vec<Function> {
        self.functions.iter().map(|(name, exported)| exported.describe(name)).collect()
    }

    /// Makes an instance.
    pub(crate) async fn instantiate(
        &self,
        store: &mut Store<CallState>,
    ) -> wasmtime::Result<wasmtime::component::Instance> {
        self.prepared.instantiate_async(store).await
    }

    /// Calls a function of a new instance.
    pub(crate) async fn call(
        &self,
        store: &mut CallStore,
        function: &str,
        given: &Map<String, Value>,
    ) -> Result<Value, Interrupted> {
        let unknown = || HostTrap::fault(format!("the component has no function \"{function}\""));
        let exported = self.functions.get(function).ok_or_else(unknown)?;
        let arguments = exported.arguments(given).map_err(Interrupted::Arguments)?;
        let result = store.run(async |store| {
            let instance = self.instantiate(store).await?;
            let called = instance.get_func(&mut *store, exported.index).ok_or_else(unknown)?;
            let mut results = vec![Val::Bool(false); exported.result.iter().len()];
            called.call_async(&mut *store, &arguments, &mut results).await?;
            let limit = store.data().limits.output_bytes;
            match results.pop() {
                None => Ok(Value::Null),
                Some(Val::Result(Err(error))) => {
                    let error = error.map(|error| value::to_json(&error, limit)).transpose()?;
                    let message = match error {
                        None => "it returned an error without a value".to_owned(),
                        Some(Value::String(text)) => text,
                        Some(other) => other.to_string(),
                    };
                    Err(HostTrap::Returned(message).into())
                }
                Some(Val::Result(Ok(None))) => Ok(Value::Null),
                Some(Val::Result(Ok(Some(value)))) => value::to_json(&value, limit),
                Some(value) => value::to_json(&value, limit),
            }
        });
        Ok(result.await?)
    }
}

impl ExportedFunction {
    fn names(&self) -> Vec<ParameterName<'_>> {
        let names = self.parameters.iter();
        names.map(|(name, one)| ParameterName { name, optional: matches!(one, Type::Option(_)) }).collect()
    }

    fn arguments(&self, given: &Map<String, Value>) -> Result<Vec<Val>, String> {
        let values = arguments::in_order(&self.names(), given)?;
        let convert = |((name, one), value): (&(String, Type), &Value)| {
            value::from_json(one, value).map_err(|reason| format!("{name}: {reason}"))
        };
        self.parameters.iter().zip(values).map(convert).collect()
    }

    fn describe(&self, name: &str) -> Function {
        let schemas = self.parameters.iter().map(|(_, one)| types::schema(one));
        let input_schema = arguments::input_schema(self.names().into_iter().zip(schemas).collect());
        let result = match &self.result {
            None => types::null(),
            // The error of a result is an error of the tool.
            Some(Type::Result(result)) => result.ok().as_ref().map_or_else(types::null, types::schema),
            Some(one) => types::schema(one),
        };
        let parameters: Vec<_> =
            self.parameters.iter().map(|(name, one)| format!("{name}: {}", types::name(one))).collect();
        let returns = self.result.as_ref().map(|one| format!(" -> {}", types::name(one))).unwrap_or_default();
        Function {
            name: name.to_owned(),
            signature: format!("{name}: func({}){returns}", parameters.join(", ")),
            description: None,
            input_schema,
            output_schema: structured_schema(result),
        }
    }
}

struct Export {
    name: String,
    index: ComponentExportIndex,
    function: ComponentFunc,
}

/// All exported functions. One of an interface has its own name if no other has it, else also its interface's.
fn exported(component: &Component, engine: &Engine) -> Vec<Export> {
    let mut found = Vec::new();
    for (name, export) in component.component_type().exports(engine) {
        match export.ty {
            ComponentItem::ComponentFunc(function) => {
                let index = component.get_export_index(None, name);
                found.push((String::new(), name.to_owned(), index, function));
            }
            ComponentItem::ComponentInstance(interface) => {
                let parent = component.get_export_index(None, name);
                for (inner, export) in interface.exports(engine) {
                    if let ComponentItem::ComponentFunc(function) = export.ty {
                        let index = component.get_export_index(parent.as_ref(), inner);
                        found.push((name.to_owned(), inner.to_owned(), index, function));
                    }
                }
            }
            _ => {}
        }
    }
    let mut counts = BTreeMap::<String, usize>::new();
    found.iter().for_each(|(_, name, ..)| *counts.entry(name.clone()).or_default() += 1);
    let named = found.into_iter().filter_map(|(interface, name, index, function)| {
        let is_unique = counts.get(&name) == Some(&1) || interface.is_empty();
        let name = if is_unique { name } else { format!("{interface}#{name}") };
        Some(Export { name, index: index?, function })
    });
    named.collect()
}
