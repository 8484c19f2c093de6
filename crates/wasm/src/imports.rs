//! What an artifact imports, read from its bytes: compiling a large one to find out would take seconds.

use wasmparser::{ComponentTypeRef, Parser, Payload, Result};

/// Something that an artifact needs from its host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Import<'a> {
    /// Of a core module.
    Core { module: &'a str, name: &'a str },
    /// Of a component: an interface or a function. A type alone asks for nothing and is left out.
    Interface(&'a str),
}

/// The imports of an artifact, in its own order; those of the modules inside a component are none of the host's.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Import<'_>>> {
    let (mut found, mut depth) = (Vec::new(), 0_usize);
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ImportSection(section) if depth == 0 => {
                for import in section.into_imports() {
                    let import = import?;
                    found.push(Import::Core { module: import.module, name: import.name });
                }
            }
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    let import = import?;
                    if !matches!(import.ty, ComponentTypeRef::Type(_)) {
                        found.push(Import::Interface(import.name.name));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}
