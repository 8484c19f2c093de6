//! How far the loading of a service has come.

/// What is being done to make a service ready; a module of several megabytes takes seconds to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LoadStage {
    /// Another module is being compiled first.
    #[default]
    Waiting,
    /// The artifact is read and its hash compared.
    Reading,
    /// The artifact is compiled, or taken from the cache.
    Compiling {
        /// The size of the artifact.
        bytes: u64,
    },
    /// What it offers is read, and an instance is made to see that it can be.
    Introspecting,
    /// It can be called.
    Ready,
}
