//! Pictures for prompts, `/api/images`: taken as they come, kept in the workspace until they expire.
//!
//! The prompt then names where a picture lies, and the agent reads it by itself.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{DefaultBodyLimit, Multipart, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use axum::{Extension, Json, Router};
use roost_proto::rpc::{Fault, FaultCode, Scope};
use roost_workspace::files::{Image, Limits, Refusal, Upload, Uploads};
use roost_workspace::{Error, RelPath, Root};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::guard::Admitted;
use crate::host::Host;

/// What a form takes besides the picture in it.
const AROUND: u64 = 64 << 10;

/// The routes.
pub(crate) fn routes() -> Router<Arc<Host>> {
    let most = usize::try_from(Limits::default().one + AROUND).unwrap_or(usize::MAX);
    Router::new()
        .route("/api/images", get(list).post(take).delete(remove))
        .route("/api/images/all", delete(clear))
        .route("/api/images/stats", get(stats))
        .route("/api/images/validate", get(validate))
        .layer(DefaultBodyLimit::max(most))
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
    word: &'static str,
    message: String,
}

type Answer = Result<Json<Value>, Refused>;

async fn take(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<Admitted>,
    Query(about): Query<About>,
    mut form: Multipart,
) -> Answer {
    may_change(&admitted)?;
    host.rates.count_upload(&admitted.caller)?;
    let uploads = uploads(&host, &about).await?;
    let invalid = |error: axum::extract::multipart::MultipartError| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refused::from(Refusal::TooLarge(Limits::default().one)),
        _ => Refused::new(StatusCode::BAD_REQUEST, "invalid_request", error.body_text()),
    };
    while let Some(mut field) = form.next_field().await.map_err(invalid)? {
        if field.name() != Some("file") {
            continue;
        }
        let id = Uuid::new_v4().simple().to_string();
        let mut upload: Upload = blocking(move || uploads.begin(&id, SystemTime::now())).await?;
        while let Some(bytes) = field.chunk().await.map_err(invalid)? {
            upload = blocking(move || upload.write(&bytes).map(|()| upload)).await?;
        }
        let image = blocking(move || upload.finish()).await?;
        let mut told = shaped(&image);
        told["success"] = json!(true);
        return Ok(Json(told));
    }
    Err(Refused::new(StatusCode::BAD_REQUEST, "missing_file", "the form has no field \"file\""))
}

async fn list(State(host): State<Arc<Host>>, Query(about): Query<About>) -> Answer {
    let uploads = uploads(&host, &about).await?;
    let limits = uploads.limits();
    if let Some(id) = about.id {
        let image = blocking(move || uploads.get(&id, SystemTime::now())).await?;
        return Ok(Json(shaped(&image)));
    }
    let images = blocking(move || Ok(uploads.list(SystemTime::now())?)).await?;
    let size: u64 = images.iter().map(|image| image.size).sum();
    Ok(Json(json!({
        "images": images.iter().map(shaped).collect::<Vec<_>>(), "count": images.len(), "total_size_bytes": size,
        "max_images": limits.count, "max_total_size_mb": limits.all >> 20,
    })))
}

async fn stats(State(host): State<Arc<Host>>, Query(about): Query<About>) -> Answer {
    let uploads = uploads(&host, &about).await?;
    let limits = uploads.limits();
    let images = blocking(move || Ok(uploads.list(SystemTime::now())?)).await?;
    let size: u64 = images.iter().map(|image| image.size).sum();
    let full = images.len() >= limits.count || size >= limits.all;
    let mut stats = json!({
        "image_count": images.len(), "total_size_bytes": size, "max_images": limits.count,
        "max_total_size_mb": limits.all >> 20, "max_single_size_mb": limits.one >> 20, "can_accept_upload": !full,
    });
    if full {
        stats["reason"] = json!(Refusal::Full.to_string());
    }
    Ok(Json(stats))
}

/// Whether a path is that of a picture that is there.
async fn validate(State(host): State<Arc<Host>>, Query(about): Query<About>) -> Answer {
    let missing = || Refused::new(StatusCode::BAD_REQUEST, "missing_path", "path is required");
    let path = about.path.clone().ok_or_else(missing)?;
    let uploads = uploads(&host, &about).await?;
    let images = blocking(move || Ok(uploads.list(SystemTime::now())?)).await?;
    let named = RelPath::parse(&path).ok();
    let found = images.iter().find(|image| Some(&image.path) == named.as_ref());
    Ok(Json(json!({ "valid": found.is_some(), "path": path, "image": found.map(shaped) })))
}

async fn remove(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<Admitted>,
    Query(about): Query<About>,
) -> Answer {
    may_change(&admitted)?;
    let missing = || Refused::new(StatusCode::BAD_REQUEST, "missing_id", "id is required");
    let id = about.id.clone().ok_or_else(missing)?;
    let uploads = uploads(&host, &about).await?;
    blocking(move || uploads.remove(&id, SystemTime::now())).await?;
    Ok(Json(json!({ "success": true, "message": "Image deleted" })))
}

async fn clear(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<Admitted>,
    Query(about): Query<About>,
) -> Answer {
    may_change(&admitted)?;
    let uploads = uploads(&host, &about).await?;
    let deleted = blocking(move || uploads.clear(SystemTime::now())).await?;
    Ok(Json(json!({ "success": true, "message": "All images deleted", "deleted": deleted })))
}

fn may_change(admitted: &Admitted) -> Result<(), Refused> {
    if admitted.caller.scope >= Scope::Operate {
        return Ok(());
    }
    Err(Refused::new(StatusCode::FORBIDDEN, "forbidden", "this device may only look"))
}

async fn uploads(host: &Host, about: &About) -> Result<Uploads, Refused> {
    let entry = match &about.workspace_id {
        Some(id) => host.workspaces.get(id).map_err(Refused::from)?,
        None => host
            .workspaces
            .default_for(host.settings.repo.as_deref())
            .ok_or_else(|| Refused::new(StatusCode::BAD_REQUEST, "missing_workspace_id", "workspace_id is required"))?,
    };
    let root = blocking(move || Ok(Root::open(entry.path.as_ref())?)).await?;
    Ok(Uploads::of(root, Limits::default()))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refusal> + Send + 'static) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Refused::from(crate::fault::panicked(error)))?.map_err(Refused::from)
}

fn shaped(image: &Image) -> Value {
    let seconds = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    json!({
        "id": image.id, "local_path": image.path.as_str(), "mime_type": image.kind.media_type(), "size": image.size,
        "created_at": seconds(image.created), "expires_at": seconds(image.expires),
    })
}

impl Refused {
    fn new(status: StatusCode, word: &'static str, message: impl Into<String>) -> Self {
        Self { status, word, message: message.into() }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let (status, word) = match &refusal {
            Refusal::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "image_too_large"),
            Refusal::Unsupported => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_type"),
            Refusal::Full => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
            Refusal::Workspace(Error::Io { source, .. }) if source.kind() == ErrorKind::StorageFull => {
                (StatusCode::INSUFFICIENT_STORAGE, "storage_error")
            }
            Refusal::Unknown(_) => (StatusCode::NOT_FOUND, "image_not_found"),
            Refusal::Workspace(_) => (StatusCode::INTERNAL_SERVER_ERROR, "storage_error"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_one() {
        let full = Error::Io { path: "x".into(), source: std::io::Error::from_raw_os_error(28) };
        let refused = Refused::from(Refusal::Workspace(full));
        assert_eq!((refused.status.as_u16(), refused.word), (507, "storage_error"));
    }
}
