//! Uploads for prompts: pictures at `/api/images`, files of any type at `/api/uploads`. They are streamed to the
//! workspace and kept there until they expire.
//!
//! The prompt then names the path, and the agent reads the file itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{DefaultBodyLimit, Multipart, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use axum::{Extension, Json, Router};
use roost_rpc::{Fault, FaultCode, Scope};
use roost_workspace::files::{Refusal, StoredUpload, Upload, UploadKind, Uploads};
use roost_workspace::{RelPath, Root};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

use crate::guard::AdmittedRequest;
use crate::host::Host;
use crate::upload_parts::{PartRefusal, UploadOwner};

/// Bytes that a form may have besides the file.
const AROUND: u64 = 64 << 10;
/// How often expired uploads are removed, in every workspace.
const SWEEP: Duration = Duration::from_mins(10);

/// The routes of one kind of upload: their path, and the words for one and for many in the answers.
#[derive(Clone, Copy)]
struct UploadRoute {
    path: &'static str,
    kind: UploadKind,
    one: &'static str,
    many: &'static str,
}

const ROUTES: [UploadRoute; 2] = [
    UploadRoute { path: "/api/images", kind: UploadKind::Images, one: "image", many: "images" },
    UploadRoute { path: "/api/uploads", kind: UploadKind::Files, one: "file", many: "files" },
];

/// Whether a form may be sent to this path.
pub(crate) fn takes_forms(path: &str) -> bool {
    ROUTES.iter().any(|route| route.path == path)
}

/// The routes of both kinds; `one` is the greatest size of an upload, in bytes.
pub(crate) fn routes(one: u64) -> Router<Arc<Host>> {
    let most = usize::try_from(one + AROUND).unwrap_or(usize::MAX);
    let router_for = |route: UploadRoute| {
        Router::new()
            .route(route.path, get(list).post(take).delete(remove))
            .route(&format!("{}/all", route.path), delete(clear))
            .route(&format!("{}/stats", route.path), get(stats))
            .route(&format!("{}/validate", route.path), get(validate))
            .layer(Extension(route))
    };
    ROUTES.into_iter().map(router_for).fold(Router::new(), Router::merge).layer(DefaultBodyLimit::max(most))
}

/// Removes expired uploads in every workspace, every `SWEEP`, until the server stops.
pub(crate) async fn sweep(host: Arc<Host>) {
    let mut due = tokio::time::interval(SWEEP);
    loop {
        tokio::select! {
            _ = due.tick() => {}
            () = host.daemon.closing.cancelled() => return,
        }
        host.upload_parts.sweep();
        for entry in host.workspaces.all().iter().cloned() {
            let limits = host.settings.limits.uploads;
            let swept = tokio::task::spawn_blocking(move || {
                let (root, now) = (Root::open(entry.path.as_ref())?, SystemTime::now());
                UploadKind::ALL
                    .into_iter()
                    .try_for_each(|kind| Uploads::new(root.clone(), kind, limits).list(now).map(drop))
            });
            if let Ok(Err(refusal)) = swept.await {
                tracing::debug!(%refusal, "What has expired in a workspace could not be removed.");
            }
        }
    }
}

/// The query of a request. Without a workspace the default one is meant.
#[derive(Deserialize)]
struct UploadQuery {
    workspace_id: Option<String>,
    id: Option<String>,
    path: Option<String>,
    /// Whether the file comes in parts, of which this is the first.
    #[serde(default)]
    parts: bool,
    /// The upload in parts that this is the next part of.
    upload_id: Option<String>,
    /// The position of the part in the file.
    offset: Option<u64>,
    /// Whether this is the last part.
    #[serde(default)]
    complete: bool,
}

/// A refused request, with the word by which the app recognises it.
struct UploadError {
    status: StatusCode,
    word: String,
    message: String,
}

type UploadResponse = Result<Json<Value>, UploadError>;

async fn take(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Extension(route): Extension<UploadRoute>,
    Query(query): Query<UploadQuery>,
    mut form: Multipart,
) -> UploadResponse {
    may_change(&admitted)?;
    host.throttles.rates.count_upload(&admitted.caller)?;
    let place = UploadFolder::open(&host, route, &query).await?;
    let most = host.settings.limits.uploads.one;
    let invalid = |error| invalid_form(route, most, &error);
    while let Some(mut field) = form.next_field().await.map_err(invalid)? {
        if field.name() != Some("file") {
            continue;
        }
        if query.parts || query.upload_id.is_some() {
            return take_part(&host, &place, &admitted, &query, field).await;
        }
        let id = Uuid::new_v4().simple().to_string();
        let name = field.file_name().unwrap_or_default().to_owned();
        let mut upload: Upload = place.ask(move |uploads| uploads.begin(&id, &name, SystemTime::now())).await?;
        while let Some(bytes) = field.chunk().await.map_err(invalid)? {
            upload = place.ask(move |_| upload.write(&bytes).map(|()| upload)).await?;
        }
        return place.finish(upload).await;
    }
    Err(UploadError::new(StatusCode::BAD_REQUEST, "missing_file", "the form has no field \"file\""))
}

/// Takes one part of a file. What of it came before the connection broke is kept, so that the client can go on there.
async fn take_part(
    host: &Arc<Host>,
    place: &UploadFolder,
    admitted: &AdmittedRequest,
    query: &UploadQuery,
    mut field: Field<'_>,
) -> UploadResponse {
    let (route, most) = (place.route, host.settings.limits.uploads.one);
    let owner = place.owner(admitted);
    let id = match &query.upload_id {
        Some(id) => id.clone(),
        None => {
            let id = Uuid::new_v4().simple().to_string();
            let (new, name) = (id.clone(), field.file_name().unwrap_or_default().to_owned());
            let upload = place.ask(move |uploads| uploads.begin_in_parts(&new, &name, SystemTime::now())).await?;
            host.upload_parts.open(&id, owner.clone(), upload)?;
            id
        }
    };
    let mut part = host.upload_parts.next(&id, &owner)?;
    let written = part.as_ref().map_or(0, Upload::size);
    if query.offset.unwrap_or(if query.parts { 0 } else { written }) != written {
        let why = format!("the next byte of this upload is {written}");
        return Err(UploadError::new(StatusCode::CONFLICT, "offset_mismatch", why));
    }
    let outcome = async {
        (part, ()) = place.write(part, |upload| upload.look_for_room(SystemTime::now())).await?;
        while let Some(bytes) = field.chunk().await.map_err(|error| invalid_form(route, most, &error))? {
            (part, ()) = place.write(part, move |upload| upload.write(&bytes)).await?;
        }
        Ok::<UploadPart, UploadError>(part)
    };
    let mut part: UploadPart = match outcome.await {
        Ok(part) => part,
        Err(error) => {
            // Whatever a limit or the disk refused cannot become complete; a form that broke off can.
            if error.word != INVALID_FORM {
                host.upload_parts.close(&id);
            }
            return Err(error);
        }
    };
    let offset = part.as_ref().map_or(0, Upload::size);
    if !query.complete {
        return Ok(Json(json!({ "success": true, "id": id, "offset": offset, "complete": false })));
    }
    host.upload_parts.close(&id);
    match part.take() {
        Some(upload) => place.finish(upload).await,
        None => Err(PartRefusal::Unknown.into()),
    }
}

/// The word for a form that cannot be read, or that broke off.
const INVALID_FORM: &str = "invalid_request";

fn invalid_form(route: UploadRoute, most: u64, error: &MultipartError) -> UploadError {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => UploadError::from_refusal(route, &Refusal::TooLarge(most)),
        _ => UploadError::new(StatusCode::BAD_REQUEST, INVALID_FORM, error.body_text()),
    }
}

async fn list(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Extension(route): Extension<UploadRoute>,
    Query(query): Query<UploadQuery>,
) -> UploadResponse {
    let place = UploadFolder::open(&host, route, &query).await?;
    if let Some(id) = &query.upload_id {
        let part = host.upload_parts.next(id, &place.owner(&admitted))?;
        let offset = part.as_ref().map_or(0, Upload::size);
        return Ok(Json(json!({ "id": id, "offset": offset, "complete": false })));
    }
    if let Some(id) = query.id {
        let stored = place.ask(move |uploads| uploads.get(&id, SystemTime::now())).await?;
        return Ok(Json(place.shaped(&stored)));
    }
    let all = place.all().await?;
    let limits = host.settings.limits.uploads;
    let size: u64 = all.iter().map(|stored| stored.size).sum();
    let shaped: Vec<_> = all.iter().map(|stored| place.shaped(stored)).collect();
    Ok(Json(json!({
        route.many: shaped, "count": all.len(), "total_size_bytes": size, format!("max_{}", route.many): limits.count,
        "max_total_size_mb": limits.all >> 20,
    })))
}

async fn stats(
    State(host): State<Arc<Host>>,
    Extension(route): Extension<UploadRoute>,
    Query(query): Query<UploadQuery>,
) -> UploadResponse {
    let all = UploadFolder::open(&host, route, &query).await?.all().await?;
    let limits = host.settings.limits.uploads;
    let size: u64 = all.iter().map(|stored| stored.size).sum();
    let full = all.len() >= limits.count || size >= limits.all;
    let mut stats = json!({
        format!("{}_count", route.one): all.len(), "total_size_bytes": size, format!("max_{}", route.many): limits.count,
        "max_total_size_mb": limits.all >> 20, "max_single_size_mb": limits.one >> 20, "can_accept_upload": !full,
    });
    if full {
        stats["reason"] = json!(Refusal::Full.to_string());
    }
    Ok(Json(stats))
}

/// Answers whether a path is that of a stored upload.
async fn validate(
    State(host): State<Arc<Host>>,
    Extension(route): Extension<UploadRoute>,
    Query(query): Query<UploadQuery>,
) -> UploadResponse {
    let missing = || UploadError::new(StatusCode::BAD_REQUEST, "missing_path", "path is required");
    let path = query.path.clone().ok_or_else(missing)?;
    let place = UploadFolder::open(&host, route, &query).await?;
    let all = place.all().await?;
    let named = RelPath::parse(&path).ok();
    let found = all.iter().find(|stored| Some(&stored.path) == named.as_ref());
    let shaped = found.map(|stored| place.shaped(stored));
    Ok(Json(json!({ "valid": found.is_some(), "path": path, route.one: shaped })))
}

async fn remove(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Extension(route): Extension<UploadRoute>,
    Query(query): Query<UploadQuery>,
) -> UploadResponse {
    may_change(&admitted)?;
    let missing = || UploadError::new(StatusCode::BAD_REQUEST, "missing_id", "id is required");
    let id = query.id.clone().ok_or_else(missing)?;
    let place = UploadFolder::open(&host, route, &query).await?;
    let removed = id.clone();
    place.ask(move |uploads| uploads.remove(&removed, SystemTime::now())).await?;
    Ok(Json(json!({ "success": true, "id": id, "message": format!("The {} is removed", route.one) })))
}

async fn clear(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Extension(route): Extension<UploadRoute>,
    Query(query): Query<UploadQuery>,
) -> UploadResponse {
    may_change(&admitted)?;
    let place = UploadFolder::open(&host, route, &query).await?;
    let deleted = place.ask(|uploads| uploads.clear(SystemTime::now())).await?;
    Ok(Json(json!({ "success": true, "message": format!("All {} are removed", route.many), "deleted": deleted })))
}

fn may_change(admitted: &AdmittedRequest) -> Result<(), UploadError> {
    if admitted.caller.scope >= Scope::Operate {
        return Ok(());
    }
    Err(UploadError::new(StatusCode::FORBIDDEN, "forbidden", "this device may only look"))
}

/// An upload in parts, held by the request that writes to it.
type UploadPart = OwnedMutexGuard<Option<Upload>>;

/// The uploads of one kind in one workspace.
struct UploadFolder {
    route: UploadRoute,
    workspace: String,
    folder: PathBuf,
    uploads: Uploads,
}

impl UploadFolder {
    async fn open(host: &Host, route: UploadRoute, query: &UploadQuery) -> Result<Self, UploadError> {
        let missing = || UploadError::new(StatusCode::BAD_REQUEST, "missing_workspace_id", "workspace_id is required");
        let entry = match &query.workspace_id {
            Some(id) => host.workspaces.get(id).map_err(UploadError::from)?,
            None => host.workspaces.default().ok_or_else(missing)?,
        };
        let limits = host.settings.limits.uploads;
        let (folder, workspace) = (PathBuf::from(&entry.path), entry.id.to_string());
        let uploads = blocking(route, move || {
            let root = Root::open(Path::new(&entry.path))?;
            Ok(Uploads::new(root, route.kind, limits))
        });
        Ok(Self { route, workspace, folder, uploads: uploads.await? })
    }

    /// Runs work on the uploads that waits for the disk.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Uploads) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, UploadError> {
        let uploads = self.uploads.clone();
        blocking(self.route, move || work(&uploads)).await
    }

    /// Runs work on an upload in parts that waits for the disk. The upload stays where it is if the request ends.
    async fn write<T: Send + 'static>(
        &self,
        mut part: UploadPart,
        work: impl FnOnce(&mut Upload) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<(UploadPart, T), UploadError> {
        let work = move |_: &Uploads| match part.as_mut().map(work) {
            Some(done) => done.map(|done| Some((part, done))),
            None => Ok(None),
        };
        self.ask(work).await?.ok_or_else(|| PartRefusal::Unknown.into())
    }

    /// Completes an upload; the answer tells where it lies.
    async fn finish(&self, upload: Upload) -> UploadResponse {
        let stored = self.ask(move |_| upload.finish()).await?;
        let mut body = self.shaped(&stored);
        body["success"] = json!(true);
        Ok(Json(body))
    }

    fn owner(&self, admitted: &AdmittedRequest) -> UploadOwner {
        let account = admitted.caller.account().to_owned();
        UploadOwner { account, route: self.route.path, workspace: self.workspace.clone() }
    }

    async fn all(&self) -> Result<Vec<StoredUpload>, UploadError> {
        self.ask(|uploads| uploads.list(SystemTime::now())).await
    }

    fn shaped(&self, stored: &StoredUpload) -> Value {
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
    route: UploadRoute,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, UploadError> {
    let done = crate::blocking::blocking(work).await.map_err(UploadError::from)?;
    done.map_err(|refusal| UploadError::from_refusal(route, &refusal))
}

impl UploadError {
    fn new(status: StatusCode, word: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status, word: word.into(), message: message.into() }
    }

    fn from_refusal(route: UploadRoute, refusal: &Refusal) -> Self {
        let (status, word) = match refusal {
            Refusal::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, format!("{}_too_large", route.one)),
            Refusal::Unsupported => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_type".into()),
            Refusal::Full => (StatusCode::INSUFFICIENT_STORAGE, "storage_full".into()),
            Refusal::DiskFull => (StatusCode::INSUFFICIENT_STORAGE, "disk_full".into()),
            Refusal::Unknown(_) => (StatusCode::NOT_FOUND, format!("{}_not_found", route.one)),
            Refusal::Workspace(_) => (StatusCode::INTERNAL_SERVER_ERROR, "storage_error".into()),
        };
        Self::new(status, word, refusal.to_string())
    }
}

impl From<PartRefusal> for UploadError {
    fn from(refusal: PartRefusal) -> Self {
        match refusal {
            PartRefusal::Unknown => {
                let why = "no such upload is open; begin again with parts=true";
                Self::new(StatusCode::NOT_FOUND, "upload_not_found", why)
            }
            PartRefusal::Busy => {
                let why = "another part of this upload is coming; send one after the other";
                Self::new(StatusCode::CONFLICT, "upload_busy", why)
            }
            PartRefusal::TooMany => {
                let why = "too many uploads are open; complete one, or wait until they lapse";
                Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_uploads", why)
            }
        }
    }
}

impl From<Fault> for UploadError {
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

impl IntoResponse for UploadError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.word, "message": self.message }))).into_response();
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        }
        response
    }
}
