//! Classifies git's error messages.

/// The cause of a git failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitKind {
    /// There is no `git` on the PATH.
    NoGit,
    /// The folder is not the top of a repository.
    NotARepository,
    /// The repository is bare, so it has no working copy.
    Bare,
    /// Somebody else owns the repository, so git refuses to touch it.
    NotOurs,
    /// The repository has no commit yet.
    NoCommits,
    /// The index, an object or the configuration cannot be read.
    Broken,
    /// Another git holds a lock, or left it behind.
    Locked,
    /// It exceeded its timeout and was ended.
    Timeout,
    /// The caller cancelled it, or stopped waiting for it.
    Cancelled,
    /// It wrote more than the limit.
    TooMuch,
    /// The name of a branch, a remote or a revision is invalid, or a commit message is empty.
    BadName,
    /// The URL of a remote is invalid, or refused because it holds a password.
    BadAddress,
    /// There is no such branch or revision.
    NoSuchRef,
    /// git knows no such file.
    NoSuchPath,
    /// There is no such remote, or none at all.
    NoRemote,
    /// The branch has no upstream.
    NoUpstream,
    /// A branch, a tag or a file of this name exists already.
    Exists,
    /// The folder is a repository already.
    Initialised,
    /// A remote of this name exists already.
    RemoteExists,
    /// A folder exists already where a worktree was to be created.
    FolderExists,
    /// The remote did not accept the credentials, or there are none.
    Credentials,
    /// The remote cannot be reached.
    Unreachable,
    /// The remote rejected the push.
    Rejected,
    /// Uncommitted changes or unmerged commits would be lost.
    Dirty,
    /// Unresolved conflicts must be resolved first.
    Conflict,
    /// There is nothing to do, such as nothing to commit.
    Nothing,
    /// `user.name` or `user.email` is not set.
    NoIdentity,
    /// The disk is full.
    DiskFull,
    /// Any other cause; git's message tells it.
    Other,
}

/// Phrases of git's messages, the most specific first. They are English, because git runs with `LC_ALL=C`.
const WORDS: &[(&str, GitKind)] = &[
    ("no space left on device", GitKind::DiskFull),
    ("detected dubious ownership", GitKind::NotOurs),
    ("not a git repository", GitKind::NotARepository),
    ("must be run in a work tree", GitKind::Bare),
    ("cannot use bare repository", GitKind::Bare),
    (".lock': file exists", GitKind::Locked),
    ("is locked", GitKind::Locked),
    ("cannot lock ref", GitKind::Locked),
    ("could not write index", GitKind::Locked),
    ("index file corrupt", GitKind::Broken),
    ("index file smaller than expected", GitKind::Broken),
    ("bad signature 0x", GitKind::Broken),
    ("bad index file", GitKind::Broken),
    ("bad config line", GitKind::Broken),
    ("is corrupt", GitKind::Broken),
    ("does not have any commits yet", GitKind::NoCommits),
    ("do not have the initial commit yet", GitKind::NoCommits),
    ("ambiguous argument 'head'", GitKind::NoCommits),
    ("invalid reference: head", GitKind::NoCommits),
    ("no commit on branch", GitKind::NoCommits),
    ("bad revision 'head'", GitKind::NoCommits),
    ("not a valid object name: 'head'", GitKind::NoCommits),
    ("please tell me who you are", GitKind::NoIdentity),
    ("unable to auto-detect email address", GitKind::NoIdentity),
    ("terminal prompts disabled", GitKind::Credentials),
    ("authentication failed", GitKind::Credentials),
    ("permission denied (publickey", GitKind::Credentials),
    ("host key verification failed", GitKind::Credentials),
    ("has no upstream branch", GitKind::NoUpstream),
    ("no tracking information", GitKind::NoUpstream),
    ("no configured push destination", GitKind::NoRemote),
    ("no such remote", GitKind::NoRemote),
    ("does not appear to be a git repository", GitKind::NoRemote),
    ("no remote repository specified", GitKind::NoRemote),
    ("could not resolve host", GitKind::Unreachable),
    ("connection refused", GitKind::Unreachable),
    ("connection timed out", GitKind::Unreachable),
    ("could not read from remote repository", GitKind::Unreachable),
    ("unable to access", GitKind::Unreachable),
    ("src refspec", GitKind::NoSuchRef),
    ("requested upstream branch", GitKind::NoSuchRef),
    ("[rejected]", GitKind::Rejected),
    ("[remote rejected]", GitKind::Rejected),
    ("failed to push some refs", GitKind::Rejected),
    ("would be overwritten by", GitKind::Dirty),
    ("contains modified or untracked files", GitKind::Dirty),
    ("not fully merged", GitKind::Dirty),
    ("you have unstaged changes", GitKind::Dirty),
    ("your index contains uncommitted changes", GitKind::Dirty),
    ("unmerged files", GitKind::Conflict),
    ("is unmerged", GitKind::Conflict),
    ("you have not concluded your merge", GitKind::Conflict),
    ("you need to resolve your current index first", GitKind::Conflict),
    ("needs merge", GitKind::Conflict),
    ("already exists", GitKind::Exists),
    ("nothing to commit", GitKind::Nothing),
    ("nothing added to commit", GitKind::Nothing),
    ("no changes added to commit", GitKind::Nothing),
    ("no local changes to save", GitKind::Nothing),
    ("no stash entries found", GitKind::Nothing),
    ("there is no merge to abort", GitKind::Nothing),
    ("did not match any file", GitKind::NoSuchPath),
    ("beyond a symbolic link", GitKind::NoSuchPath),
    ("file name too long", GitKind::NoSuchPath),
    ("is not a working tree", GitKind::NoSuchPath),
    ("is not a valid reference", GitKind::NoSuchRef),
    ("not something we can merge", GitKind::NoSuchRef),
    ("invalid reference", GitKind::NoSuchRef),
    ("not a valid ref", GitKind::NoSuchRef),
    ("unknown revision", GitKind::NoSuchRef),
    ("bad revision", GitKind::NoSuchRef),
    ("not found", GitKind::NoSuchRef),
    ("does not match any", GitKind::NoSuchRef),
    ("does not exist", GitKind::NoSuchRef),
];

impl GitKind {
    /// Classifies a message of git by the first of `WORDS` that it contains, in any case.
    pub(crate) fn classify(message: &str) -> Self {
        let message = message.to_lowercase();
        WORDS.iter().find(|(words, _)| message.contains(words)).map_or(Self::Other, |(_, kind)| *kind)
    }

    /// The kind's name on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoGit => "GIT_NOT_INSTALLED",
            Self::NotARepository => "GIT_NOT_INITIALIZED",
            Self::Bare => "BARE_REPOSITORY",
            Self::NotOurs => "NOT_OWNED",
            Self::NoCommits => "NO_COMMITS",
            Self::Broken => "BROKEN_REPOSITORY",
            Self::Locked => "LOCKED",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
            Self::TooMuch => "TOO_MUCH_OUTPUT",
            Self::BadName => "INVALID_NAME",
            Self::BadAddress => "INVALID_REMOTE_URL",
            Self::NoSuchRef => "REF_NOT_FOUND",
            Self::NoSuchPath => "PATH_NOT_FOUND",
            Self::NoRemote => "REMOTE_NOT_FOUND",
            Self::NoUpstream => "NO_UPSTREAM",
            Self::Exists => "ALREADY_EXISTS",
            Self::Initialised => "GIT_ALREADY_INITIALIZED",
            Self::RemoteExists => "REMOTE_ALREADY_EXISTS",
            Self::FolderExists => "DIRECTORY_EXISTS",
            Self::Credentials => "AUTHENTICATION_FAILED",
            Self::Unreachable => "REMOTE_UNREACHABLE",
            Self::Rejected => "PUSH_REJECTED",
            Self::Dirty => "UNCOMMITTED_CHANGES",
            Self::Conflict => "CONFLICTS",
            Self::Nothing => "NOTHING_TO_DO",
            Self::NoIdentity => "NO_IDENTITY",
            Self::DiskFull => "DISK_FULL",
            Self::Other => "GIT_FAILED",
        }
    }

    /// What a person can do about it, where git does not tell.
    pub(crate) fn advice(self) -> Option<&'static str> {
        Some(match self {
            Self::NoGit => "install git, or put it on the PATH of the daemon",
            Self::NotARepository => "use git/init, or add the folder that holds .git as the workspace",
            Self::Bare => "add a working copy of it as the workspace",
            Self::Locked => "wait for the other git to end, or remove the lock if none runs",
            Self::Credentials => "set up a credential helper or an ssh agent for the user who runs Roost",
            Self::NoIdentity => "set user.name and user.email in git's configuration",
            Self::Timeout => "try again, or run it in a terminal to see what it waits for",
            _ => return None,
        })
    }
}
