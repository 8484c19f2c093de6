//! `/api/file/raw`: a file as it is, whole or a range of it, for a page that shows pictures, films and PDFs.
//!
//! What a repository holds is nobody's program here: a browser is told to run nothing of it and to believe the media type.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use roost_rpc::{Cost, Fault};
use roost_workspace::files::{Opened, open};
use roost_workspace::{RelPath, Root};
use serde::Deserialize;

use crate::fault;
use crate::guard::Admitted;
use crate::host::Host;
use crate::rest;

/// Bytes that are read at once.
const PIECE: u64 = 64 << 10;

/// The route.
pub(crate) fn routes() -> Router<Arc<Host>> {
    Router::new().route("/api/file/raw", get(raw))
}

/// Which file.
#[derive(Deserialize)]
struct About {
    workspace_id: Option<String>,
    path: Option<String>,
}

async fn raw(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<Admitted>,
    Query(about): Query<About>,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        host.rates.count(&admitted.caller, Cost::Read)?;
        answer(&host, about, &headers).await
    };
    match answer.await {
        Ok(response) => response,
        Err(fault) => rest::refuse(&fault),
    }
}

async fn answer(host: &Host, about: About, headers: &HeaderMap) -> Result<Response, Fault> {
    let path = RelPath::parse(&about.path.ok_or_else(|| Fault::missing("path"))?).map_err(fault::workspace)?;
    let entry = match about.workspace_id {
        Some(id) => host.workspaces.get(&id)?,
        None => {
            let default = host.workspaces.default_for(host.settings.repo.as_deref());
            default.ok_or_else(|| Fault::missing("workspace_id"))?
        }
    };
    let opened = tokio::task::spawn_blocking(move || open(&Root::open(entry.path.as_ref())?, &path)).await;
    let Opened { file, size, media_type } = opened.map_err(fault::panicked)?.map_err(fault::workspace)?;
    let fixed = [
        (header::CONTENT_TYPE, media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; style-src 'unsafe-inline'"),
        (header::CACHE_CONTROL, "no-store"),
        (header::ACCEPT_RANGES, "bytes"),
    ];
    let fixed = fixed.map(|(name, value)| (name, HeaderValue::from_static(value)));
    Ok(match range(headers, size) {
        None => (fixed, [number(header::CONTENT_LENGTH, size)], stream(file, 0, size)).into_response(),
        Some(Ok((first, last))) => {
            let length = last + 1 - first;
            let place = text(header::CONTENT_RANGE, &format!("bytes {first}-{last}/{size}"));
            let about = [number(header::CONTENT_LENGTH, length), place];
            (StatusCode::PARTIAL_CONTENT, fixed, about, stream(file, first, length)).into_response()
        }
        Some(Err(())) => {
            let place = text(header::CONTENT_RANGE, &format!("bytes */{size}"));
            (StatusCode::RANGE_NOT_SATISFIABLE, [place]).into_response()
        }
    })
}

/// The first and the last byte of the one range that is wanted; an error if there is no such one. Whoever wants several
/// gets all.
fn range(headers: &HeaderMap, size: u64) -> Option<Result<(u64, u64), ()>> {
    let wanted = http_range_header::parse_range_header(headers.get(header::RANGE)?.to_str().ok()?).ok()?;
    match wanted.validate(size).as_deref() {
        Ok([one]) => Some(Ok((*one.start(), *one.end()))),
        Ok(_) => None,
        Err(_) => Some(Err(())),
    }
}

fn stream(file: std::fs::File, first: u64, length: u64) -> Body {
    let pieces = futures::stream::try_unfold((file, first, length), |(mut file, at, left)| async move {
        if left == 0 {
            return Ok::<_, std::io::Error>(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::new();
            file.seek(SeekFrom::Start(at))?;
            (&mut file).take(left.min(PIECE)).read_to_end(&mut piece)?;
            Ok::<_, std::io::Error>((file, piece))
        });
        let (file, piece) = read.await??;
        if piece.is_empty() {
            return Err(std::io::Error::other("the file became shorter while it was read"));
        }
        let read = piece.len() as u64;
        Ok(Some((Bytes::from(piece), (file, at + read, left - read))))
    });
    Body::from_stream(pieces)
}

fn number(name: HeaderName, value: u64) -> (HeaderName, HeaderValue) {
    (name, HeaderValue::from(value))
}

fn text(name: HeaderName, value: &str) -> (HeaderName, HeaderValue) {
    // Only digits and the words around them.
    (name, HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static("")))
}
