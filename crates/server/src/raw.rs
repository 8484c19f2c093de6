//! `/api/file/raw`: serves a file, or a range of it, for a page that shows pictures, films and PDFs.
//!
//! Files of a repository are not trusted: the headers forbid the browser to run scripts in them and to guess another
//! type.

use std::io::SeekFrom;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use futures::TryStreamExt;
use roost_rpc::{Cost, Fault, FaultCode};
use roost_workspace::files::{OpenFile, open};
use roost_workspace::{RelPath, Root};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use crate::blocking::blocking;
use crate::fault;
use crate::guard::AdmittedRequest;
use crate::host::Host;
use crate::rest;
use crate::workspaces::Workspaces;

/// Bytes that are read from the file at once.
const PIECE: usize = 64 << 10;

/// The route, for the router of everything served over TCP.
pub(crate) fn routes() -> Router<Arc<Host>> {
    Router::new().route("/api/file/raw", get(raw))
}

/// The query: a file, in the default workspace unless one is named.
#[derive(Deserialize)]
struct RawFileQuery {
    workspace_id: Option<String>,
    path: Option<String>,
}

async fn raw(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Query(query): Query<RawFileQuery>,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        host.throttles.rates.count(&admitted.caller, Cost::Read)?;
        answer(&host.workspaces, query, &headers).await
    };
    match answer.await {
        Ok(response) => response,
        Err(fault) => rest::refuse(&fault),
    }
}

async fn answer(workspaces: &Workspaces, query: RawFileQuery, headers: &HeaderMap) -> Result<Response, Fault> {
    let path = RelPath::parse(&query.path.ok_or_else(|| Fault::missing("path"))?).map_err(fault::workspace)?;
    let entry = workspaces.named(query.workspace_id.as_deref())?;
    let opened = blocking(move || open(&Root::open(entry.path.as_ref())?, &path)).await?;
    let OpenFile { file, size, media_type } = opened.map_err(fault::workspace)?;
    let fixed = [
        (header::CONTENT_TYPE, media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; style-src 'unsafe-inline'"),
        (header::CACHE_CONTROL, "no-store"),
        (header::ACCEPT_RANGES, "bytes"),
    ];
    let fixed = fixed.map(|(name, value)| (name, HeaderValue::from_static(value)));
    Ok(match range(headers, size) {
        None => (fixed, [number(header::CONTENT_LENGTH, size)], stream(file, 0, size).await?).into_response(),
        Some(Ok((first, last))) => {
            let length = last + 1 - first;
            let place = text(header::CONTENT_RANGE, &format!("bytes {first}-{last}/{size}"));
            let about = [number(header::CONTENT_LENGTH, length), place];
            (StatusCode::PARTIAL_CONTENT, fixed, about, stream(file, first, length).await?).into_response()
        }
        Some(Err(())) => {
            let place = text(header::CONTENT_RANGE, &format!("bytes */{size}"));
            (StatusCode::RANGE_NOT_SATISFIABLE, [place]).into_response()
        }
    })
}

/// The first and the last byte of the requested range; an error if the file has no such range. `None` means the whole
/// file, also where several ranges are requested.
fn range(headers: &HeaderMap, size: u64) -> Option<Result<(u64, u64), ()>> {
    let wanted = http_range_header::parse_range_header(headers.get(header::RANGE)?.to_str().ok()?).ok()?;
    match wanted.validate(size).as_deref() {
        Ok([one]) => Some(Ok((*one.start(), *one.end()))),
        Ok(_) => None,
        Err(_) => Some(Err(())),
    }
}

async fn stream(file: std::fs::File, first: u64, length: u64) -> Result<Body, Fault> {
    let mut file = tokio::fs::File::from_std(file);
    file.seek(SeekFrom::Start(first)).await.map_err(|error| Fault::new(FaultCode::FileReadError, error))?;
    let pieces = ReaderStream::with_capacity(file.take(length), PIECE);
    // Where the answer is compressed its length is not told, so a file that ends too early must break it off.
    let whole = futures::stream::try_unfold((pieces, length), |(mut pieces, left)| async move {
        match pieces.try_next().await? {
            Some(piece) => {
                let left = left - piece.len() as u64;
                Ok(Some((piece, (pieces, left))))
            }
            None if left == 0 => Ok(None),
            None => Err(std::io::Error::other("the file became shorter while it was read")),
        }
    });
    Ok(Body::from_stream(whole))
}

fn number(name: HeaderName, value: u64) -> (HeaderName, HeaderValue) {
    (name, HeaderValue::from(value))
}

fn text(name: HeaderName, value: &str) -> (HeaderName, HeaderValue) {
    // Only digits and the words around them.
    (name, HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static("")))
}
