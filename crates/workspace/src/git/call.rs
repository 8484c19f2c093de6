//! The builder of a git command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::RelPath;

/// The most bytes of output, unless a call sets another limit: enough for the status of a million files.
const MOST: usize = 64 << 20;

/// The class of a call, which decides its timeout and which programs of the repository may run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Read,
    Write,
    Network,
}

/// The arguments and limits of one git process.
pub(crate) struct Call {
    pub(super) operation: &'static str,
    pub(super) args: Vec<OsString>,
    pub(super) input: Option<Vec<u8>>,
    pub(super) class: Class,
    pub(super) literal: bool,
    pub(super) most: usize,
    pub(super) may_be_cut: bool,
}

impl Call {
    fn new(operation: &'static str, class: Class) -> Self {
        Self { operation, args: Vec::new(), input: None, class, literal: false, most: MOST, may_be_cut: false }
    }

    /// A call that changes nothing and may run beside others.
    pub(crate) fn read(operation: &'static str) -> Self {
        Self::new(operation, Class::Read)
    }

    /// A call that changes this repository; hooks run.
    pub(crate) fn write(operation: &'static str) -> Self {
        Self::new(operation, Class::Write)
    }

    /// A call that talks to a remote; its timeout is the longest.
    pub(crate) fn network(operation: &'static str) -> Self {
        Self::new(operation, Class::Network)
    }

    pub(crate) fn args<T: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    /// Adds an argument if the condition holds.
    pub(crate) fn flag(self, is_there: bool, arg: &str) -> Self {
        self.args(is_there.then_some(arg))
    }

    /// Sets the bytes that git reads from its standard input.
    pub(crate) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = Some(input);
        self
    }

    /// Adds literal paths after `--`.
    pub(crate) fn paths<'a>(self, paths: impl IntoIterator<Item = &'a RelPath>) -> Self {
        self.names(paths.into_iter().map(name))
    }

    /// Like the method for paths, for names that need not be UTF-8.
    pub(crate) fn names<'a>(mut self, names: impl IntoIterator<Item = &'a [u8]>) -> Self {
        self.literal = true;
        self.arg("--").args(names.into_iter().map(OsStr::from_bytes))
    }

    /// Passes any number of literal paths on standard input.
    pub(crate) fn many_paths<'a>(self, paths: impl IntoIterator<Item = &'a RelPath>) -> Self {
        self.many_names(paths.into_iter().map(name))
    }

    /// Like the method for paths, for names that need not be UTF-8.
    pub(crate) fn many_names<'a>(mut self, names: impl IntoIterator<Item = &'a [u8]>) -> Self {
        self.literal = true;
        let mut input = Vec::new();
        for name in names {
            input.extend_from_slice(name);
            input.push(0);
        }
        self.args(["--pathspec-from-file=-", "--pathspec-file-nul"]).input(input)
    }

    /// Cuts the output after this many bytes, which is then no error.
    pub(crate) fn cut_at(mut self, most: usize) -> Self {
        self.most = most;
        self.may_be_cut = true;
        self
    }
}

fn name(path: &RelPath) -> &[u8] {
    path.to_path().as_os_str().as_bytes()
}
