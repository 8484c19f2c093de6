//! Compiled code on disk: found again, never believed when it is broken, and nobody else's to write.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_wasm::effects::NoEffects;
use roost_wasm::{HostConfig, LoadStage, WasmHost};
use serde_json::json;
use tokio::sync::watch;

use crate::kit::{Stage, result};

const ADD: &str = r#"(module (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add))"#;

/// The files of compiled code.
fn compiled(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_none());
    files.chain(folders.iter().flat_map(|folder| compiled(folder))).collect()
}

/// A second host with the same cache, as after a restart.
fn restarted(stage: Stage) -> Stage {
    let host = WasmHost::new(HostConfig::new(stage.path("cache"))).unwrap();
    Stage { host, ..stage }
}

#[tokio::test]
async fn a_module_is_compiled_once_and_found_again_after_a_restart() {
    let stage = Stage::new();
    stage.load(ADD).await;
    assert_eq!(stage.host.cache_use(), (0, 1));
    let stage = restarted(stage);
    let service = stage.load(ADD).await;
    assert_eq!(stage.host.cache_use(), (1, 0));
    assert_eq!(result(&service, "fn__add", json!({ "args": [1, 2] })).await, json!(3));
}

#[tokio::test]
async fn broken_files_in_the_cache_are_compiled_anew() {
    let mut stage = Stage::new();
    stage.load(ADD).await;
    let file = compiled(&stage.path("cache")).pop().expect("nothing is cached");
    let whole = fs::read(&file).unwrap();
    for broken in [&b""[..], b"junk", &whole[..whole.len() / 2]] {
        fs::write(&file, broken).unwrap();
        stage = restarted(stage);
        let service = stage.load(ADD).await;
        assert_eq!(stage.host.cache_use(), (0, 1), "{} bytes", broken.len());
        assert_eq!(result(&service, "fn__add", json!({ "args": [1, 2] })).await, json!(3));
    }
}

#[tokio::test]
async fn two_that_load_the_same_module_at_once_compile_it_once() {
    let stage = Stage::new();
    let declaration = stage.declare(ADD);
    let load = async || {
        let (progress, _) = watch::channel(LoadStage::default());
        stage.host.load(&declaration, Arc::new(NoEffects), stage.log.clone(), &progress).await.unwrap()
    };
    let (one, other) = tokio::join!(load(), load());
    assert_eq!(stage.host.cache_use(), (1, 1));
    for service in [one, other] {
        assert_eq!(result(&service, "fn__add", json!({ "args": [1, 2] })).await, json!(3));
    }
}

#[tokio::test]
async fn whoever_loads_again_waits_for_the_compiler_that_nobody_waits_for_any_more() {
    let stage = Stage::new();
    let functions = (0..600).map(|at| {
        let body = format!("(i64.add (i64.mul (local.get 0) (i64.const {at})) (local.get 1))");
        format!("(func (export \"f{at}\") (param i64 i64) (result i64) {body})")
    });
    let declaration = stage.declare(format!("(module {})", functions.collect::<String>()));
    let (progress, mut told) = watch::channel(LoadStage::default());
    let given_up = async {
        told.wait_for(|stage| matches!(stage, LoadStage::Compiling { .. })).await.map(drop).unwrap();
    };
    tokio::select! {
        biased;
        _ = stage.host.load(&declaration, Arc::new(NoEffects), stage.log.clone(), &progress) => panic!("it is loaded"),
        () = given_up => {}
    }
    stage.try_load(&declaration).await.unwrap();
    assert_eq!(stage.host.cache_use(), (1, 1), "what the first one compiled is used");
}

#[tokio::test]
async fn progress_is_told_and_ends_with_ready() {
    let stage = Stage::new();
    let (progress, told) = watch::channel(LoadStage::default());
    let declaration = stage.declare(ADD);
    stage.host.load(&declaration, Arc::new(NoEffects), stage.log.clone(), &progress).await.unwrap();
    assert_eq!(*told.borrow(), LoadStage::Ready);
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    let folder = tempfile::TempDir::new().unwrap();
    let cache = folder.path().join("cache");
    fs::create_dir(&cache).unwrap();
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    let error = WasmHost::new(HostConfig::new(cache)).err().unwrap().to_string();
    assert!(
        error.ends_with("others can write to it, and what is in it runs as code; make it yours with chmod 700"),
        "{error}"
    );
}

#[test]
fn a_new_folder_is_ours_alone() {
    let folder = tempfile::TempDir::new().unwrap();
    let cache = folder.path().join("a/b");
    WasmHost::new(HostConfig::new(cache.clone())).unwrap();
    assert_eq!(fs::metadata(cache).unwrap().permissions().mode() & 0o777, 0o700);
}
