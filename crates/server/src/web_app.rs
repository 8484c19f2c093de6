//! The web app: the files of `ui/dist`, which are in the binary. They hold no data, so everybody may have them.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

/// A file of the web app.
struct WebFile {
    /// Where it is served, such as `/assets/index-1a2b3c.js`.
    path: &'static str,
    /// Its content's hash, quoted as in the header.
    etag: &'static str,
    bytes: &'static [u8],
    /// The same, compressed with Brotli; absent where that would not be smaller.
    brotli: Option<&'static [u8]>,
}

/// All files, by path.
const FILES: &[WebFile] = include!(concat!(env!("OUT_DIR"), "/web_files.rs"));

/// The page itself.
const PAGE: &str = "/index.html";
/// Files below this have a hash in their name and never change.
const HASHED: &str = "/assets/";
/// The addresses of places within the page, and what those with an id begin with.
const PLACES: [&str; 9] = ["/", "/pair", "/new", "/w", "/services", "/activity", "/status", "/devices", "/more"];
const PLACES_BELOW: [&str; 3] = ["/s/", "/w/", "/services/"];

/// Nothing inline, nothing evaluated, nothing from elsewhere, and no page of others around it. Pictures and PDFs are read
/// with a token and shown as `blob:`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
     manifest-src 'self'; worker-src 'self'; frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the web app.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let mut routes = Router::new();
    for place in PLACES {
        routes = routes.route(place, get(serve));
    }
    for below in PLACES_BELOW {
        routes = routes.route(&format!("{below}{{*rest}}"), get(serve));
    }
    for file in FILES.iter().filter(|file| file.path != PAGE) {
        routes = routes.route(file.path, get(serve));
    }
    routes
}

/// Whether this is an address of the web app, which needs no token.
pub(crate) fn is_served(path: &str) -> bool {
    PLACES.contains(&path)
        || PLACES_BELOW.iter().any(|below| path.starts_with(below))
        || FILES.iter().any(|file| file.path == path)
}

async fn serve(request: Request) -> Response {
    let path = request.uri().path();
    let find = |path: &str| FILES.iter().find(|file| file.path == path);
    match find(path).or_else(|| find(PAGE)) {
        Some(file) => answer(file, request.headers()),
        None => (StatusCode::NOT_FOUND, Json(json!({ "error": "this build has no web app" }))).into_response(),
    }
}

fn answer(file: &WebFile, request: &HeaderMap) -> Response {
    let is_hashed = file.path.starts_with(HASHED);
    let headers: [(HeaderName, &str); 7] = [
        (header::CONTENT_TYPE, content_type(file.path)),
        (header::CACHE_CONTROL, if is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" }),
        (header::ETAG, file.etag),
        (header::VARY, "Accept-Encoding"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let has = |name: HeaderName, wanted: &str| {
        let values = request.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|all| all.split(',')).any(|one| one.split(';').next().is_some_and(|one| one.trim() == wanted))
    };
    if has(header::IF_NONE_MATCH, file.etag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    match file.brotli {
        Some(compressed) if has(header::ACCEPT_ENCODING, "br") => {
            (headers, [(header::CONTENT_ENCODING, "br")], compressed).into_response()
        }
        _ => (headers, file.bytes).into_response(),
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}
