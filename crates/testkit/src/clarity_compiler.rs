//! A stand-in for the Clarity compiler, which is on no registry: a script that is called as `clarityc` is.
//!
//! Whatever the source says, the module that it makes adds two numbers, as a new project's source does. A source with the
//! word `REFUSED` is an error, with `HANGS` it never ends, and one with `TRAPS` becomes a module that cannot be started.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// `clarityc compile SOURCE -o MODULE` and `clarityc --version`; the modules lie beside it.
const SCRIPT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo "clarityc stand-in"; exit 0; }
grep -q REFUSED "$2" && { echo "line 1: REFUSED" >&2; exit 1; }
grep -q HANGS "$2" && exec sleep 1000
grep -q TRAPS "$2" && exec cp "$0.traps.wasm" "$4"
exec cp "$0.wasm" "$4"
"#;

/// What the compiler makes of a new project.
const MODULE: &str = r#"(module
    (memory (export "memory") 1)
    (global (export "__heap_base") i32 (i32.const 1024))
    (func (export "add") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1)))
    (func (export "mcp_main") (result i64) (i64.const 0)))"#;

/// A module of which no instance can be made.
const TRAPPING_MODULE: &str = "(module (func $start unreachable) (start $start))";

/// Writes the compiler into a folder; its path.
pub fn write(folder: &Path) -> PathBuf {
    let compiler = folder.join("clarityc");
    for (name, text) in [("clarityc.wasm", MODULE), ("clarityc.traps.wasm", TRAPPING_MODULE)] {
        fs::write(folder.join(name), wat::parse_str(text).unwrap()).unwrap();
    }
    fs::write(&compiler, SCRIPT).unwrap();
    fs::set_permissions(&compiler, Permissions::from_mode(0o755)).unwrap();
    compiler
}
