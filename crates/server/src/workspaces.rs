//! The registry of workspaces: rows in the log, all of them in memory.
//!
//! A missing folder makes only its own workspace unusable. Workspaces belong to the host, so pairing and revoking
//! devices does not touch them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use roost_log::{Log, RowChange, RowKind, StreamId};
use roost_model::event::{EventBody, NewEvent, RuntimeRef, Trace};
use roost_model::ids::{SessionId, WorkspaceId};
use roost_model::payload::{WorkspaceAddedPayload, WorkspaceRemovedPayload, WorkspaceUpdatedPayload};
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use roost_rpc::{Fault, FaultCode};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::fault;
use crate::folder_policy::{self, FolderPolicy, Reach};

/// The greatest number of workspaces.
const MAX: usize = 100;
/// The greatest length of a name, in characters.
const MAX_NAME: usize = 200;

/// A workspace: a folder that agents may work in. Also the form of its row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorkspaceEntry {
    pub(crate) id: WorkspaceId,
    pub(crate) name: String,
    /// Absolute, with every link followed when it was added.
    pub(crate) path: String,
    pub(crate) auto_start: bool,
    pub(crate) created_at: Timestamp,
    /// The session that clients attach to first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<SessionId>,
}

/// The parameters of a new workspace.
pub(crate) struct NewWorkspace {
    pub(crate) name: Option<String>,
    pub(crate) path: PathBuf,
    pub(crate) auto_start: bool,
    pub(crate) create_if_missing: bool,
    /// Which folders the caller may choose from.
    pub(crate) reach: Reach,
}

/// The workspaces that were added, in memory and as rows of the log.
pub(crate) struct Workspaces {
    log: Arc<dyn Log>,
    folder_policy: FolderPolicy,
    /// By when they were added. Replaced as a whole, so readers never wait for the disk.
    entries: RwLock<Arc<Vec<WorkspaceEntry>>>,
    /// The folder that the daemon was started in.
    home: Option<PathBuf>,
    /// Held from the check of a change to its commit.
    changing: Mutex<()>,
}

impl Workspaces {
    /// Reads all workspaces. A row that cannot be read is logged and left as it is.
    pub(crate) async fn load(
        log: Arc<dyn Log>,
        folder_policy: FolderPolicy,
        home: Option<PathBuf>,
    ) -> Result<Self, roost_log::Error> {
        let mut entries: Vec<WorkspaceEntry> = Vec::new();
        for (id, body) in log.rows(RowKind::Workspace).await? {
            match serde_json::from_str(&body) {
                Ok(entry) => entries.push(entry),
                Err(error) => tracing::error!(workspace = id, %error, "A workspace cannot be read."),
            }
        }
        entries.sort_by_key(|entry| entry.created_at);
        Ok(Self { log, folder_policy, home, entries: RwLock::new(Arc::new(entries)), changing: Mutex::default() })
    }

    /// All of them, by when they were added.
    pub(crate) fn all(&self) -> Arc<Vec<WorkspaceEntry>> {
        self.entries.read().clone()
    }

    /// The policy that decides which folders can become workspaces.
    pub(crate) fn folder_policy(&self) -> &FolderPolicy {
        &self.folder_policy
    }

    /// The workspace of this id, to work in.
    pub(crate) fn get(&self, id: &str) -> Result<WorkspaceEntry, Fault> {
        let entry = self.find(id)?;
        self.check(&entry)?;
        Ok(entry)
    }

    /// The workspace of this id, whether or not it can be worked in.
    pub(crate) fn find(&self, id: &str) -> Result<WorkspaceEntry, Fault> {
        let found = self.all().iter().find(|entry| entry.id.as_str() == id).cloned();
        found.ok_or_else(|| {
            let why = format_args!("no workspace \"{id}\"; workspace/list shows them");
            Fault::new(FaultCode::WorkspaceNotFound, why).with("workspace_id", id)
        })
    }

    /// Refuses a workspace whose folder policy no longer allows: such a one can only be listed and removed.
    pub(crate) fn check(&self, entry: &WorkspaceEntry) -> Result<(), Fault> {
        self.folder_policy.check(entry.path.as_ref()).map_err(|fault| fault.with("workspace_id", &entry.id))
    }

    /// The workspaces that policy still allows to be used.
    pub(crate) fn usable(&self) -> Vec<WorkspaceEntry> {
        self.all().iter().filter(|entry| self.check(entry).is_ok()).cloned().collect()
    }

    /// The workspace that this folder lies in; none is nested, so there is one at most.
    pub(crate) fn containing(&self, path: &Path) -> Option<WorkspaceEntry> {
        self.usable().into_iter().find(|entry| path.starts_with(&entry.path))
    }

    /// The folder in which a device may start a session, with its links resolved: one in a workspace, which comes with
    /// it, or one that the device could make a workspace. `None` for every other path.
    pub(crate) async fn session_folder(&self, path: &Path) -> Option<(PathBuf, Option<WorkspaceEntry>)> {
        if !path.is_absolute() {
            return None;
        }
        let real = folder_policy::resolved(path).await.ok()?;
        if let Some(entry) = self.containing(&real) {
            return Some((real, Some(entry)));
        }
        let real = self.folder_policy.admit(path, Reach::Roots).await.ok()?;
        tokio::fs::metadata(&real).await.is_ok_and(|found| found.is_dir()).then_some((real, None))
    }

    /// The default workspace: the one that contains the folder the daemon was started in, else the first one.
    pub(crate) fn default(&self) -> Option<WorkspaceEntry> {
        let home = self.home.as_deref().and_then(|home| self.containing(home));
        home.or_else(|| self.usable().into_iter().next())
    }

    /// The workspace of this id, or the default one.
    pub(crate) fn named(&self, id: Option<&str>) -> Result<WorkspaceEntry, Fault> {
        match id {
            Some(id) => self.get(id),
            None => self.default().ok_or_else(|| Fault::missing("workspace_id")),
        }
    }

    /// Adds a folder as a workspace: checks that policy allows it and that it overlaps with no other, then stores it.
    pub(crate) async fn add(&self, new: NewWorkspace) -> Result<WorkspaceEntry, Fault> {
        // First where it would be, so that nothing is made where nothing may be; then where it is.
        let real = self.folder_policy.admit(&new.path, new.reach).await?;
        let path = folder(&real, new.create_if_missing).await?;
        self.folder_policy.admit(path.as_ref(), new.reach).await?;
        let folder_name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = checked_name(new.name.or(folder_name).unwrap_or_else(|| path.clone()))?;
        let _changing = self.changing.lock().await;
        let all = self.all();
        if all.len() >= MAX {
            return Err(Fault::params(format_args!(
                "there are {MAX} workspaces, which is the limit; remove one first"
            )));
        }
        for other in all.iter() {
            if other.path == path {
                let why = format_args!("{path} is the workspace \"{}\" already", other.name);
                return Err(Fault::params(why).with("workspace_id", &other.id));
            }
            if Path::new(&path).starts_with(&other.path) || Path::new(&other.path).starts_with(&path) {
                let why =
                    format_args!("{path} and the workspace \"{}\" ({}) lie in one another", other.name, other.path);
                return Err(Fault::params(why).with("workspace_id", &other.id));
            }
        }
        let name = unique(&all, name);
        let entry = WorkspaceEntry {
            id: WorkspaceId::new(),
            name: name.clone(),
            path: path.clone(),
            auto_start: new.auto_start,
            created_at: Timestamp::now(),
            current: None,
        };
        let added = WorkspaceAddedPayload { workspace_id: entry.id.clone(), name, path };
        self.store(&entry, Some(added.into())).await?;
        let mut entries = Vec::clone(&all);
        entries.push(entry.clone());
        self.replace(entries);
        Ok(entry)
    }

    /// Changes the name of a workspace, or whether it starts by itself.
    pub(crate) async fn update(
        &self,
        id: &str,
        name: Option<String>,
        auto_start: Option<bool>,
    ) -> Result<WorkspaceEntry, Fault> {
        let name = name.map(checked_name).transpose()?;
        let _changing = self.changing.lock().await;
        let mut entry = self.get(id)?;
        if let Some(name) = &name
            && self.all().iter().any(|other| other.id != entry.id && other.name == *name)
        {
            return Err(Fault::params(format_args!("another workspace is called \"{name}\"; take another name")));
        }
        let updated = WorkspaceUpdatedPayload { workspace_id: entry.id.clone(), name: name.clone(), auto_start };
        entry.name = name.unwrap_or(entry.name);
        entry.auto_start = auto_start.unwrap_or(entry.auto_start);
        self.store(&entry, Some(updated.into())).await?;
        self.put(&entry);
        Ok(entry)
    }

    /// Makes a session the one that clients attach to first.
    pub(crate) async fn activate(&self, id: &str, session: &SessionId) -> Result<(), Fault> {
        let _changing = self.changing.lock().await;
        let mut entry = self.get(id)?;
        if entry.current.as_ref() == Some(session) {
            return Ok(());
        }
        entry.current = Some(session.clone());
        self.store(&entry, None).await?;
        self.put(&entry);
        Ok(())
    }

    /// Forgets a workspace; its folder and sessions stay.
    pub(crate) async fn remove(&self, id: &str) -> Result<WorkspaceEntry, Fault> {
        let _changing = self.changing.lock().await;
        let entry = self.find(id)?;
        let removed = WorkspaceRemovedPayload {
            workspace_id: entry.id.clone(),
            name: entry.name.clone(),
            path: entry.path.clone(),
        };
        let change = RowChange { kind: RowKind::Workspace, id: id.into(), body: None };
        self.log.keep(vec![change], vec![host_event(removed.into())]).await.map_err(fault::log)?;
        self.replace(self.all().iter().filter(|other| other.id != entry.id).cloned().collect());
        Ok(entry)
    }

    async fn store(&self, entry: &WorkspaceEntry, event: Option<EventBody>) -> Result<(), Fault> {
        let body = serde_json::to_string(entry).map_err(|error| Fault::new(FaultCode::InternalError, error))?;
        let change = RowChange { kind: RowKind::Workspace, id: entry.id.to_string(), body: Some(body) };
        self.log.keep(vec![change], event.map(host_event).into_iter().collect()).await.map_err(fault::log)
    }

    fn put(&self, entry: &WorkspaceEntry) {
        let with = |other: &WorkspaceEntry| if other.id == entry.id { entry.clone() } else { other.clone() };
        self.replace(self.all().iter().map(with).collect());
    }

    fn replace(&self, entries: Vec<WorkspaceEntry>) {
        *self.entries.write() = Arc::new(entries);
    }
}

/// An event for the stream of the host, which belongs to no session.
pub(crate) fn host_event(body: EventBody) -> NewEvent {
    NewEvent {
        time: Timestamp::now(),
        trace: Trace::session(SessionId::host()),
        runtime: RuntimeRef::new(RuntimeName::Host),
        body,
    }
}

/// Whether this is the stream of host events, which belong to no session.
pub(crate) fn is_host(stream: &StreamId) -> bool {
    *stream == StreamId::host()
}

async fn folder(path: &Path, create: bool) -> Result<String, Fault> {
    let bad = |why: &dyn std::fmt::Display| Fault::params(format_args!("{}: {why}", path.display())).with("path", path);
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::PermissionDenied => bad(&error).with("error_code", "PERMISSION_DENIED"),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => bad(&error).with("error_code", "NOT_A_DIRECTORY"),
        _ => bad(&error),
    };
    if create {
        tokio::fs::create_dir_all(path).await.map_err(failed)?;
    }
    let real = tokio::fs::canonicalize(path).await.map_err(failed)?;
    if !tokio::fs::metadata(&real).await.map_err(failed)?.is_dir() {
        return Err(bad(&"it is not a folder").with("error_code", "NOT_A_DIRECTORY"));
    }
    real.to_str().map(ToOwned::to_owned).ok_or_else(|| bad(&"the path is not UTF-8"))
}

fn checked_name(name: String) -> Result<String, Fault> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(Fault::params(format_args!("a workspace's name has 1 to {MAX_NAME} visible characters")));
    }
    Ok(name.into())
}

/// The name, with a number after it if another workspace has the same.
fn unique(all: &[WorkspaceEntry], name: String) -> String {
    let taken = |name: &str| all.iter().any(|other| other.name == name);
    if !taken(&name) {
        return name;
    }
    // One of more numbers than there are workspaces is free.
    (2..).map(|number| format!("{name} {number}")).find(|name| !taken(name)).unwrap_or(name)
}
