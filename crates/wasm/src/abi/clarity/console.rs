//! Printing, which goes to the service's log, and the terminal, which is not there.

use wasmtime::{Caller, Linker};

use super::numbers::float_to_string;
use super::{Guest, IMPORT_MODULE as ENV};
use crate::outcome::HostTrap;
use crate::service_log::LogLevel;
use crate::store::CallState;

/// What a terminal that nobody looks at is said to be.
const COLUMNS: i64 = 80;
const ROWS: i64 = 24;

/// Adds printing, stdin, arguments and the terminal.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    for (name, level) in [
        ("print_string", LogLevel::Info),
        ("log_info", LogLevel::Info),
        ("log_warn", LogLevel::Warn),
        ("print_stderr", LogLevel::Warn),
    ] {
        linker.func_wrap(ENV, name, move |caller: Caller<'_, CallState>, text: i32| {
            let mut guest = Guest::of(caller)?;
            let text = guest.string(text)?;
            guest.state().log.print(level, &text);
            Ok(())
        })?;
    }
    linker.func_wrap(ENV, "print_no_newline", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        guest.state().log.stream(LogLevel::Info, &text);
        Ok(())
    })?;
    linker.func_wrap(ENV, "print_int", |caller: Caller<'_, CallState>, value: i64| {
        caller.data().log.print(LogLevel::Info, &value.to_string());
    })?;
    linker.func_wrap(ENV, "print_float", |caller: Caller<'_, CallState>, value: f64| {
        caller.data().log.print(LogLevel::Info, &float_to_string(value));
    })?;
    add_input(linker)?;
    add_tracing(linker)?;
    add_terminal(linker)
}

/// A service has no stdin: it is at its end.
fn add_input(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    for name in ["read_line", "read_all_stdin"] {
        linker.func_wrap(ENV, name, |caller: Caller<'_, CallState>| Guest::of(caller)?.new_string(""))?;
    }
    linker.func_wrap(ENV, "read_line_or_eof", |caller: Caller<'_, CallState>| Guest::of(caller)?.new_option(None))?;
    linker.func_wrap(ENV, "stdin_try_read", |caller: Caller<'_, CallState>, _timeout: i64| {
        Guest::of(caller)?.new_option(None)
    })?;
    linker.func_wrap(ENV, "stdin_eof_detected", || 1_i32)?;
    linker.func_wrap(ENV, "get_args", |caller: Caller<'_, CallState>| {
        let service = caller.data().service.clone();
        Guest::of(caller)?.new_strings(&*service.args)
    })?;
    linker.func_wrap(ENV, "exit", |code: i64| -> wasmtime::Result<()> { Err(HostTrap::Exit(code).into()) })?;
    Ok(())
}

/// Spans are lines of the log; their handle is not needed for that.
fn add_tracing(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "trace_start", |caller: Caller<'_, CallState>, operation: i32| {
        let mut guest = Guest::of(caller)?;
        let operation = guest.string(operation)?;
        guest.state().log.print(LogLevel::Info, &format!("begins: {operation}"));
        Ok(1_i64)
    })?;
    linker.func_wrap(ENV, "trace_log", |caller: Caller<'_, CallState>, _span: i64, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        guest.state().log.print(LogLevel::Info, &text);
        Ok(())
    })?;
    linker.func_wrap(ENV, "trace_end", |_span: i64| {})?;
    Ok(())
}

fn add_terminal(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "tty_is_tty", || 0_i32)?;
    linker.func_wrap(ENV, "tty_term_width", || COLUMNS)?;
    linker.func_wrap(ENV, "tty_term_height", || ROWS)?;
    linker.func_wrap(ENV, "tty_read_key", |caller: Caller<'_, CallState>, _timeout: i64| {
        Guest::of(caller)?.new_option(None)
    })?;
    for name in ["tty_enter_raw", "tty_exit_raw", "tty_clear_line", "tty_hide_cursor", "tty_show_cursor"] {
        linker.func_wrap(ENV, name, || {})?;
    }
    for name in ["tty_cursor_up", "tty_cursor_down", "tty_cursor_to_col"] {
        linker.func_wrap(ENV, name, |_count: i64| {})?;
    }
    Ok(())
}
