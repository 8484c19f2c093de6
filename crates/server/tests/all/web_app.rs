//! The web app at the door: what is served to whom, with which headers.

use std::collections::BTreeSet;

use crate::kit::Door;

/// A header of an answer's head, whose names the kit has in lower case.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The files that the page names.
fn assets(page: &str) -> BTreeSet<&str> {
    page.split('"').filter(|text| text.starts_with("/assets/")).collect()
}

#[tokio::test]
async fn every_place_of_the_page_is_the_page_and_runs_nothing_but_its_own_files() {
    let door = Door::open().await;
    for place in [
        "/",
        "/pair",
        "/new",
        "/s/0198-x",
        "/w",
        "/w/1/files?path=a",
        "/status",
        "/devices",
        "/services",
        "/services/svc_0",
    ] {
        let (status, head, page) = door.http(&format!("GET {place}"), &[], "").await;
        assert_eq!(status, 200, "{place}");
        assert_eq!(header(&head, "content-type"), Some("text/html; charset=utf-8"), "{place}");
        assert_eq!(header(&head, "cache-control"), Some("no-cache"), "{place}");
        let policy = header(&head, "content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        for hole in ["unsafe", "data:", "http:", "https:", "*"] {
            assert!(!policy.contains(hole), "{policy}");
        }
        assert!(!assets(&page).is_empty(), "{page}");
        for inline in ["<style", "style=\"", "onclick", "http://", "https://"] {
            assert!(!page.contains(inline), "{inline} in {page}");
        }
        assert_eq!(
            page.matches("<script").count(),
            page.matches("<script type=\"module\" crossorigin src=\"/").count()
        );
    }
}

#[tokio::test]
async fn a_file_with_a_hash_in_its_name_is_kept_for_ever_and_sent_compressed() {
    let door = Door::open().await;
    let (_, _, page) = door.http("GET /", &[], "").await;
    for path in assets(&page) {
        let (status, head, plain) = door.http(&format!("GET {path}"), &[], "").await;
        assert_eq!((status, header(&head, "content-encoding")), (200, None), "{path}");
        assert_eq!(header(&head, "cache-control"), Some("public, max-age=31536000, immutable"));
        // What fits into one packet is sent as it is.
        if plain.len() < 1024 {
            continue;
        }
        let (_, head, _) = door.http(&format!("GET {path}"), &[("Accept-Encoding", "gzip, br;q=0.9")], "").await;
        let sent: usize = header(&head, "content-length").unwrap().parse().unwrap();
        assert_eq!(header(&head, "content-encoding"), Some("br"), "{path}");
        assert!(sent * 2 < plain.len(), "{path}: {sent} of {}", plain.len());
        let etag = header(&head, "etag").unwrap();
        assert_eq!(door.http(&format!("GET {path}"), &[("If-None-Match", etag)], "").await.0, 304);
    }
}

#[tokio::test]
async fn the_page_can_be_installed() {
    let door = Door::open().await;
    let (status, manifest) = door.get("/manifest.webmanifest", None).await;
    assert_eq!(status, 200);
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for icon in manifest["icons"].as_array().unwrap() {
        let path = icon["src"].as_str().unwrap();
        assert_eq!(door.http(&format!("GET {path}"), &[], "").await.0, 200, "{path}");
    }
    let (status, head, _) = door.http("GET /sw.js", &[], "").await;
    assert_eq!((status, header(&head, "cache-control")), (200, Some("no-cache")));
}

#[tokio::test]
async fn what_is_no_part_of_the_page_is_not_served_as_it() {
    let door = Door::open().await;
    for path in ["/assets/none.js", "/assets/..%2findex.html", "/index.html.br", "/nowhere", "/sw.js/x"] {
        assert_eq!(door.http(&format!("GET {path}"), &[], "").await.0, 401, "{path}");
    }
}
