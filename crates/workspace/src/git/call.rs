//! One start of git, before it is made.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::RelPath;

/// Bytes of an answer at most, unless a call says otherwise: the status of a million files.
const MOST: usize = 64 << 20;

/// How long it may take, and whether it may write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Read,
    Write,
    Network,
}

/// One start of git.
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

    /// A change here.
    pub(crate) fn write(operation: &'static str) -> Self {
        Self::new(operation, Class::Write)
    }

    /// A talk with another machine.
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

    /// An argument that is there or not.
    pub(crate) fn flag(self, is_there: bool, arg: &str) -> Self {
        self.args(is_there.then_some(arg))
    }

    /// What git reads.
    pub(crate) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = Some(input);
        self
    }

    /// Paths as they are, after the `--` that ends everything else.
    pub(crate) fn paths<'a>(self, paths: impl IntoIterator<Item = &'a RelPath>) -> Self {
        self.names(paths.into_iter().map(name))
    }

    /// The same for paths that may be no text.
    pub(crate) fn names<'a>(mut self, names: impl IntoIterator<Item = &'a [u8]>) -> Self {
        self.literal = true;
        self.arg("--").args(names.into_iter().map(OsStr::from_bytes))
    }

    /// As many paths as one likes, which git reads.
    pub(crate) fn many_paths<'a>(self, paths: impl IntoIterator<Item = &'a RelPath>) -> Self {
        self.many_names(paths.into_iter().map(name))
    }

    /// The same for paths that may be no text.
    pub(crate) fn many_names<'a>(mut self, names: impl IntoIterator<Item = &'a [u8]>) -> Self {
        self.literal = true;
        let mut input = Vec::new();
        for name in names {
            input.extend_from_slice(name);
            input.push(0);
        }
        self.args(["--pathspec-from-file=-", "--pathspec-file-nul"]).input(input)
    }

    /// So many bytes of the answer are enough; the rest is cut off.
    pub(crate) fn cut_at(mut self, most: usize) -> Self {
        self.most = most;
        self.may_be_cut = true;
        self
    }
}

fn name(path: &RelPath) -> &[u8] {
    path.to_path().as_os_str().as_bytes()
}
