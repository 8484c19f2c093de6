//! Starts a runtime by `execve` behind the wall. The standard library would call `execvp` after a `pre_exec` hook,
//! which runs a file of unknown format by a shell; a spawn without a hook does not.
#![allow(unsafe_code)]

use std::{
    ffi::{CString, OsString},
    io,
    os::unix::ffi::OsStringExt,
    ptr,
};

use super::CommandLine;
use crate::run::RUN_VARIABLE;

/// The arguments of `execve`: a program, its arguments and its environment.
pub(crate) struct ExecImage {
    program: CString,
    args: Vec<CString>,
    variables: Vec<CString>,
}

impl ExecImage {
    /// The runtime of this command line. It inherits the holder's environment and gets its run id in addition.
    pub(crate) fn from_command_line(line: &CommandLine) -> io::Result<Self> {
        let text = |text: OsString| CString::new(text.into_vec()).map_err(io::Error::from);
        let program = line.program.clone().into_os_string();
        let run = (OsString::from(RUN_VARIABLE), OsString::from(line.run.as_str()));
        let variables = std::env::vars_os().filter(|(name, _)| name != RUN_VARIABLE).chain([run]);
        let variable = |(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            text(name)
        };
        Ok(Self {
            program: text(program.clone())?,
            args: [program].into_iter().chain(line.args.iter().cloned()).map(text).collect::<io::Result<_>>()?,
            variables: variables.map(variable).collect::<io::Result<_>>()?,
        })
    }

    /// Replaces this process by the program. Returns only if that fails.
    pub(crate) fn exec(&self) -> io::Error {
        let pointers =
            |words: &[CString]| -> Vec<_> { words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect() };
        let (args, variables) = (pointers(&self.args), pointers(&self.variables));
        // SAFETY: both lists end with a null pointer, and they and the texts that they point to live until the call
        // returns.
        unsafe { libc::execve(self.program.as_ptr(), args.as_ptr(), variables.as_ptr()) };
        io::Error::last_os_error()
    }
}
