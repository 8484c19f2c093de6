//! What clients bring along for prompts: pictures at `/api/images`, files of any kind at `/api/uploads`. They are taken as
//! they come and kept in the workspace until they expire.
//!
//! The prompt then names where one lies, and the agent reads it by itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{DefaultBodyLimit, Multipart, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use axum::{Extension, Json, Router};
use roost_rpc::{Fault, FaultCode, Scope};
use roost_workspace::files::{Refusal, Shelf, Stored, Upload, Uploads};
use roost_workspace::{RelPath, Root};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::guard::Admitted;
use crate::host::Host;

/// What a form takes besides what is in it.
const AROUND: u64 = 64 << 10;
/// How often what has expired is removed.
const SWEEP: Duration = Duration::from_mins(10);

/// A kind of upload: where it is sent to, where it is kept, and what it is called.
#[derive(Clone, Copy)]
struct Kind {
    path: &'static str,
    shelf: Shelf,
    one: &'static str,
    many: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind { path: "/api/images", shelf: Shelf::Images, one: "image", many: "images" },
    Kind { path: "/api/uploads", shelf: Shelf::Files, one: "file", many: "files" },
];

/// Whether a form may be sent to this path.
pub(crate) fn takes_forms(path: &str) -> bool {
    KINDS.iter().any(|kind| kind.path == path)
}

/// The routes; one upload may have so many bytes.
pub(crate) fn routes(one: u64) -> Router<Arc<Host>> {
    let most = usize::try_from(one + AROUND).unwrap_or(usize::MAX);
    let of = |kind: Kind| {
        Router::new()
            .route(kind.path, get(list).post(take).delete(remove))
            .route(&format!("{}/all", kind.path), delete(clear))
            .route(&format!("{}/stats", kind.path), get(stats))
            .route(&format!("{}/validate", kind.path), get(validate))
            .layer(Extension(kind))
    };
    KINDS.into_iter().map(of).fold(Router::new(), Router::merge).layer(DefaultBodyLimit::max(most))
}

/// Removes what has expired, everywhere, until the host closes.
pub(crate) async fn sweep(host: Arc<Host>) {
    let mut due = tokio::time::interval(SWEEP);
    loop {
        tokio::select! {
            _ = due.tick() => {}
            () = host.daemon.closing.cancelled() => return,
        }
        for entry in host.workspaces.all().iter().cloned() {
            let limits = host.settings.limits.uploads;
            let swept = tokio::task::spawn_blocking(move || {
                let (root, now) = (Root::open(entry.path.as_ref())?, SystemTime::now());
                Shelf::ALL
                    .into_iter()
                    .try_for_each(|shelf| Uploads::new(root.clone(), shelf, limits).list(now).map(drop))
            });
            if let Ok(Err(refusal)) = swept.await {
                tracing::debug!(%refusal, "What has expired in a workspace could not be removed.");
            }
        }
    }
}

/// What a request is about.
#[derive(Deserialize)]
struct About {
    workspace_id: Option<String>,
    id: Option<String>,
    path: Option<String>,
}

/// Why a request is refused, in the word that the app knows.
struct Refused {
    status: StatusCode,
    word: String,
    message: String,
}

type Answer = Result<Json<Value>, Refused>;

async fn take(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<Admitted>,
    Extension(kind): Extension<Kind>,
    Query(about): Query<About>,
    mut form: Multipart,
) -> Answer {
    may_change(&admitted)?;
    host.throttles.rates.count_upload(&admitted.caller)?;
    let place = UploadFolder::open(&host, kind, &about).await?;
    let most = host.settings.limits.uploads.one;
    let invalid = |error: axum::extract::multipart::MultipartError| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refused::from_refusal(kind, &Refusal::TooLarge(most)),
        _ => Refused::new(StatusCode::BAD_REQUEST, "invalid_request", error.body_text()),
    };
    while let Some(mut field) = form.next_field().await.map_err(invalid)? {
        if field.name() != Some("file") {
            continue;
        }
        let id = Uuid::new_v4().simple().to_string();
        let name = field.file_name().unwrap_or_default().to_owned();
        let mut upload: Upload = place.ask(move |uploads| uploads.begin(&id, &name, SystemTime::now())).await?;
        while let Some(bytes) = field.chunk().await.map_err(invalid)? {
            upload = place.ask(move |_| upload.write(&bytes).map(|()| upload)).await?;
        }
        let stored = place.ask(move |_| upload.finish()).await?;
        let mut told = place.shaped(&stored);
        told["success"] = json!(true);
        return Ok(Json(told));
    }
    Err(Refused::new(StatusCode::BAD_REQUEST, "missing_file", "the form has no field \"file\""))
}

async fn list(State(host): State<Arc<Host>>, Extension(kind): Extension<Kind>, Query(about): Query<About>) -> Answer {
    let place = UploadFolder::open(&host, kind, &about).await?;
    if let Some(id) = about.id {
        let stored = place.ask(move |uploads| uploads.get(&id, SystemTime::now())).await?;
        return Ok(Json(place.shaped(&stored)));
    }
    let all = place.all().await?;
    let limits = host.settings.limits.uploads;
    let size: u64 = all.iter().map(|stored| stored.size).sum();
    let shaped: Vec<_> = all.iter().map(|stored| place.shaped(stored)).collect();
    Ok(Json(json!({
        kind.many: shaped, "count": all.len(), "total_size_bytes": size, format!("max_{}", kind.many): limits.count,
        "max_total_size_mb": limits.all >> 20,
    })))
}

async fn stats(State(host): State<Arc<Host>>, Extension(kind): Extension<Kind>, Query(about): Query<About>) -> Answer {
    let all = UploadFolder::open(&host, kind, &about).await?.all().await?;
    let limits = host.settings.limits.uploads;
    let size: u64 = all.iter().map(|stored| stored.size).sum();
    let full = all.len() >= limits.count || size >= limits.all;
    let mut stats = json!({
        format!("{}_count", kind.one): all.len(), "total_size_bytes": size, format!("max_{}", kind.many): limits.count,
        "max_total_size_mb": limits.all >> 20, "max_single_size_mb": limits.one >> 20, "can_accept_upload": !full,
    });
    if full {
        stats["reason"] = json!(Refusal::Full.to_string());
    }
    Ok(Json(stats))
}

/// Whether a path is that of something that is there.
async fn validate(
    State(host): State<Arc<Host>>,
    Extension(kind): Extension<Kind>,
    Query(about): Query<About>,
) -> Answer {
    let missing = || Refused::new(StatusCode::BAD_REQUEST, "missing_path", "path is required");
    let path = about.path.clone().ok_or_else(missing)?;
    let place = UploadFolder::open(&host, kind, &about).await?;
    let all = place.all().await?;
    let named = RelPath::parse(&path).ok();
    let found = all.iter().find(|stored| Some(&stored.path) == named.as_ref());
    let shaped = found.map(|stored| place.shaped(stored));
    Ok(Json(json!({ "valid": found.is_some(), "path": path, kind.one: shaped })))
}

async fn remove(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<Admitted>,
    Extension(kind): Extension<Kind>,
    Query(about): Query<About>,
) -> Answer {
    may_change(&admitted)?;
    let missing = || Refused::new(StatusCode::BAD_REQUEST, "missing_id", "id is required");
    let id = about.id.clone().ok_or_else(missing)?;
    let place = UploadFolder::open(&host, kind, &about).await?;
    place.ask(move |uploads| uploads.remove(&id, SystemTime::now())).await?;
    Ok(Json(json!({ "success": true, "message": format!("The {} is removed", kind.one) })))
}

async fn clear(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<Admitted>,
    Extension(kind): Extension<Kind>,
    Query(about): Query<About>,
) -> Answer {
    may_change(&admitted)?;
    let place = UploadFolder::open(&host, kind, &about).await?;
    let deleted = place.ask(|uploads| uploads.clear(SystemTime::now())).await?;
    Ok(Json(json!({ "success": true, "message": format!("All {} are removed", kind.many), "deleted": deleted })))
}

fn may_change(admitted: &Admitted) -> Result<(), Refused> {
    if admitted.caller.scope >= Scope::Operate {
        return Ok(());
    }
    Err(Refused::new(StatusCode::FORBIDDEN, "forbidden", "this device may only look"))
}

/// The uploads of one kind in one workspace.
struct UploadFolder {
    kind: Kind,
    folder: PathBuf,
    uploads: Uploads,
}

impl UploadFolder {
    async fn open(host: &Host, kind: Kind, about: &About) -> Result<Self, Refused> {
        let missing = || Refused::new(StatusCode::BAD_REQUEST, "missing_workspace_id", "workspace_id is required");
        let entry = match &about.workspace_id {
            Some(id) => host.workspaces.get(id).map_err(Refused::from)?,
            None => host.workspaces.default().ok_or_else(missing)?,
        };
        let limits = host.settings.limits.uploads;
        let folder = PathBuf::from(&entry.path);
        let uploads = blocking(kind, move || {
            let root = Root::open(Path::new(&entry.path))?;
            Ok(Uploads::new(root, kind.shelf, limits))
        });
        Ok(Self { kind, folder, uploads: uploads.await? })
    }

    /// Does something that waits for the disk.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Uploads) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refused> {
        let uploads = self.uploads.clone();
        blocking(self.kind, move || work(&uploads)).await
    }

    async fn all(&self) -> Result<Vec<Stored>, Refused> {
        self.ask(|uploads| uploads.list(SystemTime::now())).await
    }

    fn shaped(&self, stored: &Stored) -> Value {
        let seconds = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        json!({
            "id": stored.id, "name": stored.name, "local_path": stored.path.as_str(),
            // A session may work in another folder of the workspace, such as a worktree.
            "absolute_path": self.folder.join(stored.path.as_str()), "mime_type": stored.media_type, "size": stored.size,
            "created_at": seconds(stored.created), "expires_at": seconds(stored.expires),
        })
    }
}

async fn blocking<T: Send + 'static>(
    kind: Kind,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refused> {
    let done = crate::blocking::blocking(work).await.map_err(Refused::from)?;
    done.map_err(|refusal| Refused::from_refusal(kind, &refusal))
}

impl Refused {
    fn new(status: StatusCode, word: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status, word: word.into(), message: message.into() }
    }

    fn from_refusal(kind: Kind, refusal: &Refusal) -> Self {
        let (status, word) = match refusal {
            Refusal::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, format!("{}_too_large", kind.one)),
            Refusal::Unsupported => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_type".into()),
            Refusal::Full => (StatusCode::INSUFFICIENT_STORAGE, "storage_full".into()),
            Refusal::DiskFull => (StatusCode::INSUFFICIENT_STORAGE, "disk_full".into()),
            Refusal::Unknown(_) => (StatusCode::NOT_FOUND, format!("{}_not_found", kind.one)),
            Refusal::Workspace(_) => (StatusCode::INTERNAL_SERVER_ERROR, "storage_error".into()),
        };
        Self::new(status, word, refusal.to_string())
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        let kind = fault.kind().unwrap_or(FaultCode::InternalError);
        let word = match kind {
            FaultCode::RateLimited => "rate_limit_exceeded",
            FaultCode::WorkspaceNotFound => "invalid_workspace",
            _ => "storage_error",
        };
        let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::new(status, word, fault.message)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.word, "message": self.message }))).into_response();
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        }
        response
    }
}
