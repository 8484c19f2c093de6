//! The parameters by which a client could make the host run something, or read beyond a workspace: who may give each.
//!
//! The server enforces the table in one place, before a handler runs. A parameter is in [`PARAMETERS`] or, if its name
//! means the same harmless thing wherever it occurs, in [`HARMLESS`]; a test fails for one that is in neither.

use std::fmt::Write as _;

use serde::Serialize;

use super::Method;
use super::Method::*;

/// What a caller must be in order to pass a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    /// Anybody who may call the method.
    Operate,
    /// A device with the scope `admin`, or somebody at the machine.
    Admin,
    /// Somebody at the machine, which means the local socket.
    Local,
}

/// The exception: values that every caller of the method may pass, whatever [`Needs`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unless {
    /// There is no exception.
    Never,
    /// Names of the allow-list for variables, with plain values.
    AllowedVariables,
    /// Settings of the runtime's own allow-list.
    AllowedSettings,
    /// A short name without blanks, quotes or a leading dash.
    PlainName,
    /// A mode other than `yolo`, or any mode where `policy.allow_yolo` is set.
    NotYolo,
    /// Images that are sent as data.
    SentAsData,
    /// Paths below the session's folder.
    BelowSession,
    /// A folder in a workspace.
    InWorkspace,
    /// A folder in a workspace, or one in which the device could add a workspace.
    InWorkspaceOrRoots,
    /// A folder beneath `workspaces.roots`, with no hidden folder between.
    BeneathRoots,
    /// An address on another machine: https, ssh or git.
    OnAnotherMachine,
}

impl Unless {
    /// The exception in words, as the documentation has it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Never => "",
            Self::AllowedVariables => "variables of the allow-list, with plain values",
            Self::AllowedSettings => "settings of the runtime's allow-list, with plain values",
            Self::PlainName => "a short plain name",
            Self::NotYolo => "a mode other than `yolo`, or any if `policy.allow_yolo` is set",
            Self::SentAsData => "images that are sent as data",
            Self::BelowSession => "paths below the session's folder",
            Self::InWorkspace => "a folder in a workspace",
            Self::InWorkspaceOrRoots => {
                "a folder in a workspace, or one beneath `workspaces.roots`, no hidden folder between"
            }
            Self::BeneathRoots => "a folder beneath `workspaces.roots`, no hidden folder between",
            Self::OnAnotherMachine => "an address on another machine (https, ssh, git)",
        }
    }
}

/// A parameter by which the host could be made to run something, or to read beyond a workspace.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The method that takes it.
    pub method: Method,
    /// The parameter's own name; a spelling that older clients use counts the same.
    pub name: &'static str,
    /// What a caller must be in order to pass it.
    pub needs: Needs,
    /// The values that need no more than the method does.
    pub unless: Unless,
    /// What could be done with it, for the documentation.
    pub risk: &'static str,
}

macro_rules! parameter_table {
    ($($risk:literal => $needs:ident unless $unless:ident: $($method:ident.$name:tt),+;)*) => {
        /// Every parameter that needs a rule.
        pub const PARAMETERS: &[Parameter] = &[$($(Parameter {
            method: $method,
            name: stringify!($name),
            needs: Needs::$needs,
            unless: Unless::$unless,
            risk: $risk,
        }),+),*];
    };
}

parameter_table! {
    "Variables make programs load code (`PYTHONPATH`, `GIT_*`, `LD_PRELOAD`)." =>
        Admin unless AllowedVariables: SessionStart.env, AgentRun.env;
    "A runtime's settings name programs: tool servers, hooks, key helpers." =>
        Admin unless AllowedSettings: SessionStart.runtime_config;
    "The runtime starts the program, or trusts what the address answers." =>
        Admin unless Never: SessionStart.mcp_servers;
    "It becomes an argument or a setting of the runtime." =>
        Admin unless PlainName: SessionStart.model, SessionSend.model;
    "It may share the user's own home and logins where they are kept apart." =>
        Admin unless Never: SessionStart.isolation, SessionStart.credential_namespace;
    "In `yolo` nothing is asked." =>
        Local unless NotYolo: SessionStart.permission_mode, SessionStart.yolo_mode, SessionFork.permission_mode,
        SessionFork.yolo_mode, SessionSend.permission_mode, SessionSend.yolo_mode, AgentRun.permission_mode,
        AgentRun.yolo_mode;
    "An agent works in the folder." => Admin unless InWorkspaceOrRoots: SessionStart.cwd;
    "What past sessions said in the folder is read." => Admin unless InWorkspace: SessionFork.cwd, SessionList.cwd;
    "The host reads the file." => Local unless SentAsData: SessionSend.images, AgentRun.images;
    "The agent is told to read the file." => Local unless BelowSession: SessionSend.files, AgentRun.files;
    "Agents work in the folder, its files are shown, and git runs what its repository names." =>
        Admin unless BeneathRoots: WorkspaceAdd.path, WorkspaceDiscover.paths;
    "git reads the other repository." => Admin unless OnAnotherMachine: GitRemoteAdd.url;

    "An agent acts on it; what it does is judged by the policy." =>
        Operate unless Never: AgentRun.prompt, SessionSend.prompt, AgentInput.input, SessionInput.input,
        SessionInput.key, AgentRespond.response, SessionRespond.response;
    "An agent is answered with it instead of with the file or the output of its command; the policy judged the request." =>
        Operate unless Never: ClientOffer.read_files, ClientOffer.write_files, ClientOffer.terminals,
        ClientAnswer.request_id, ClientAnswer.result, ClientAnswer.error;
    "A tool call runs that waited for leave." =>
        Operate unless Never: PermissionRespond.decision, PermissionRespond.scope, PermissionRespond.updated_input,
        AgentRespond.is_error, SessionRespond.type;
    "git makes a working copy: the repository's own hooks and filters run." =>
        Operate unless Never: SessionStart.worktree, WorktreeAdd.name, WorktreeAdd.branch, WorktreeAdd.base,
        GitCheckout.branch, GitCheckout.create;
    "git stages or brings back files: the repository's own filters run." =>
        Operate unless Never: GitStage.paths, GitUnstage.paths, GitDiscard.paths, GitStash.message,
        GitStash.include_untracked, GitStashApply.index, GitStashApply.pop, GitStashPop.index, GitStashDrop.index;
    "git commits or merges: the repository's own hooks, filters, merge drivers and signing program run." =>
        Operate unless Never: GitCommit.message, GitCommit.push, GitInit.initial_branch, GitInit.initial_commit,
        GitInit.commit_message, GitMerge.branch, GitMerge.no_ff, GitMerge.message, WorktreeMerge.name,
        WorktreeMerge.message, WorktreeRemove.name, WorktreeRemove.force, WorktreeDiscard.name, WorktreeDiscard.force;
    "git talks to a remote that the repository knows: its ssh command, credential helpers and hooks run." =>
        Operate unless Never: GitPush.remote, GitPush.branch, GitPush.force, GitPush.set_upstream, GitPull.rebase,
        GitFetch.remote, GitFetch.prune, GitRemoteAdd.name, GitRemoteAdd.fetch, GitRemoteRemove.name,
        GitBranchDelete.branch, GitBranchDelete.force, GitBranchDelete.delete_remote, GitUpstreamSet.branch,
        GitUpstreamSet.upstream;
    "A file of the workspace is read; links do not lead out of it." =>
        Operate unless Never: WorkspaceFileGet.path, FileGet.path, FileList.path, WorkspaceFilesList.directory,
        GitDiff.path, GitLog.path, RepositoryFilesList.directory, RepositoryFilesTree.path, RepositoryGrep.directory;
    "The folder is made if it is missing; the rule for `path` holds." =>
        Operate unless Never: WorkspaceAdd.create_if_missing;
    "An agent's session is made with the daemon; it waits for a prompt." =>
        Operate unless Never: WorkspaceAdd.auto_start, WorkspaceUpdate.auto_start;
    "A device is paired, with what its code was made for." =>
        Operate unless Never: DeviceApprove.request_id, DeviceApprove.reject;
    "The host starts the program, or trusts what the address answers." => Admin unless Never: ServiceApply.manifest;
    "The host keeps a login, which calls of the service then use; the browser is sent to its own machine only." =>
        Admin unless Never: ServiceLoginBegin.redirect_uri, ServiceLoginBegin.client_id, ServiceLoginBegin.client_secret,
        ServiceLoginBegin.client_metadata_url, ServiceLoginBegin.scopes,
        ServiceLoginFinish.redirected_to;
    "Agents are offered the tools as they are defined now." => Admin unless Never: ServiceApprove.tools;
    "What happened in a run is recorded, also in a run of somebody else; an agent records about its own run only." =>
        Operate unless Never: RunReport.events;
    "An agent reads it: one that Roost hosts takes it as a prompt, one of a service by its own tool." =>
        Operate unless Never: RunMessage.message, RunMessage.role;
    "The secret is sent to the service whose manifest names it." =>
        Admin unless Never: SecretSet.secret, SecretSet.auth_ref, SecretDelete.auth_ref;
    "A compiled module below the daemon's folder is deleted." => Admin unless Never: ServiceRemove.cleanup_artifacts;
    "Whether a variable of the daemon or a file of its secrets is there is told." =>
        Admin unless Never: SecretValidate.auth_ref;
    "Other programs of the user trust what the address answers." => Admin unless Never: BootstrapApply.endpoint;
    "The settings of other programs of the user are changed." =>
        Admin unless Never: BootstrapApply.clients, BootstrapApply.transport, BootstrapApply.update_agents_md,
        BootstrapRemove.clients, BootstrapRemove.update_agents_md;
    "A new device gets so much, and never more than whoever makes its code." => Operate unless Never: PairCreate.scope;
    "A program gets so much for a year, and never `admin`." => Operate unless Never: DeviceToken.scope;
}

/// Parameters that only select something, limit it or order it. They run nothing and read nothing further.
pub const HARMLESS: &[&str] = &[
    // Which one.
    "agent_type",
    "artifact_id",
    "attempt",
    "device_id",
    "discover_id",
    "prompt_id",
    "grep_id",
    "id",
    "idempotency_key",
    "input_hash",
    "login_id",
    "revision",
    "rule_id",
    "run_id",
    "search_id",
    "service_id",
    "session_id",
    "sessions",
    "thought_level",
    "tool_name",
    "tool_use_id",
    "workspace_id",
    "workspaces",
    // How much, from where, in what order.
    "after",
    "after_seq",
    "before",
    "before_seq",
    "call_limit",
    "context_lines",
    "cursor",
    "depth",
    "dry_run",
    "event_limit",
    "git_limit",
    "length",
    "limit",
    "limit_per_file",
    "log_limit",
    "max_size",
    "max_size_kb",
    "min_size",
    "offset",
    "order",
    "skip",
    "sort_by",
    "sort_order",
    // What is left out or shown.
    "author",
    "branch",
    "case_sensitive",
    "exclude_binaries",
    "extensions",
    "follow",
    "force",
    "format",
    "fresh",
    "git_tracked_only",
    "graph",
    "include_git",
    "include_hidden",
    "neutral_names",
    "pattern",
    "query",
    "recursive",
    "regex",
    "since",
    "source",
    "staged",
    "stream",
    "truncate",
    "types",
    "until",
    "whole_words",
    // What a client says of itself or for people.
    "approver",
    "capabilities",
    "client_info",
    "delivery",
    "key",
    "mode",
    "name",
    "protocol_version",
    "reason",
    "root_path",
    "title",
    "what",
];

impl Method {
    /// The method's parameters that have a rule in [`PARAMETERS`].
    pub fn parameters(self) -> impl Iterator<Item = &'static Parameter> {
        PARAMETERS.iter().filter(move |parameter| parameter.method == self)
    }
}

/// The table in Markdown, as `docs/parameters.md` holds it.
pub fn markdown() -> String {
    let mut rows: Vec<(Needs, Unless, &str, Vec<String>)> = Vec::new();
    for Parameter { method, name, needs, unless, risk } in PARAMETERS {
        let cell = format!("`{}` {}", method.name(), name);
        match rows.iter_mut().find(|row| row.2 == *risk) {
            Some(row) => row.3.push(cell),
            None => rows.push((*needs, *unless, risk, vec![cell])),
        }
    }
    let mut text = String::from(
        "# Parameters that can make the host run something\n\n\
         Generated from `crates/rpc/src/parameters.rs`; a test fails where the two differ.\n\n\
         Who may call a method at all is its scope (`x-scope` in the OpenRPC document). These parameters need more, or\n\
         are listed because of what they can do: **needs** is what a caller must be, **unless** what every caller of the\n\
         method may give all the same. `admin` means a device that was paired with that scope, or somebody at the\n\
         machine; `local` means the local socket, which is the command line; `operate` means whoever may call the method,\n\
         which for a method that only reads is every device. Everything else that a method takes says which thing is\n\
         meant, how much of it, or in what order.\n\n\
         | needs | unless it is | parameters | why |\n|---|---|---|---|\n",
    );
    for (needs, unless, risk, cells) in rows {
        let needs = format!("{needs:?}").to_lowercase();
        _ = writeln!(text, "| {needs} | {} | {} | {risk} |", unless.words(), cells.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::SchemaGenerator;
    use serde_json::Value;

    use super::*;

    /// The names of a method's parameters.
    fn names(method: Method) -> BTreeSet<String> {
        let schema = method.params_schema(&mut SchemaGenerator::default());
        let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        properties.into_iter().map(|(name, _)| name).collect()
    }

    fn is_row(method: Method, name: &str) -> bool {
        method.parameters().any(|row| row.name == name)
    }

    #[test]
    fn every_parameter_of_every_method_is_in_the_table_or_known_to_be_harmless() {
        let unknown: Vec<_> = Method::ALL
            .iter()
            .flat_map(|&method| names(method).into_iter().map(move |name| (method, name)))
            .filter(|(method, name)| !is_row(*method, name) && !HARMLESS.contains(&name.as_str()))
            .map(|(method, name)| format!("{}.{name}", method.name()))
            .collect();
        assert_eq!(unknown, Vec::<String>::new(), "say who may give them: a row in PARAMETERS, or a name in HARMLESS");
    }

    #[test]
    fn every_row_and_every_harmless_name_is_of_a_parameter_that_there_is() {
        for row in PARAMETERS {
            assert!(names(row.method).contains(row.name), "{}.{}", row.method.name(), row.name);
        }
        let all: BTreeSet<_> = Method::ALL.iter().flat_map(|&method| names(method)).collect();
        for name in HARMLESS {
            assert!(all.contains(*name), "{name} is no parameter of any method");
        }
    }

    #[test]
    fn a_row_with_an_exception_needs_more_than_the_method() {
        for row in PARAMETERS {
            assert!(row.unless == Unless::Never || row.needs != Needs::Operate, "{}.{}", row.method.name(), row.name);
        }
    }
}
