//! What a prompt brings along besides its words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roost_model::content::TranscriptContentBlock;
use roost_model::mode::Mode;
use serde_json::{Value, json};

use crate::kit::Door;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and more";

fn image(bytes: &[u8]) -> Value {
    json!({ "data": STANDARD.encode(bytes) })
}

#[tokio::test]
async fn an_image_reaches_the_runtime_and_only_a_reference_reaches_the_log() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let send = json!({ "workspace_id": door.workspace().await, "prompt": "look", "images": [image(PNG)] });
    let sent = client.call("session/send", send).await.unwrap();
    let (_runtime, task) = door.runtimes().task().await;
    let TranscriptContentBlock::Image { artifact_id, media_type, .. } = &task.input().messages[0].content[1] else {
        panic!("{:?}", task.input().messages)
    };
    assert_eq!(media_type, "image/png");
    assert_eq!(&*task.input().images[artifact_id].bytes, PNG);
    task.finish().await;
    let log = client.call("log/read", json!({ "session_id": sent["session_id"] })).await.unwrap().to_string();
    assert!(log.contains(artifact_id.as_str()) && !log.contains(&STANDARD.encode(PNG)), "{log}");
}

#[tokio::test]
async fn what_cannot_be_shown_is_refused_before_anything_happens() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let big = [PNG, &vec![0; 10 << 20]].concat();
    let table = [
        ("no image", json!([image(b"<svg/>")])),
        ("jpeg", json!([{ "data": STANDARD.encode(PNG), "media_type": "image/jpeg" }])),
        ("base64", json!([{ "data": "?" }])),
        ("5", json!(vec![image(PNG); 6])),
        ("10485760", json!([image(&big)])),
        ("either", json!([{}])),
        ("local", json!([{ "path": "/etc/hostname" }])),
        ("colour", json!([{ "data": "", "colour": 1 }])),
    ];
    let workspace = door.workspace().await;
    for (why, images) in table {
        let send = json!({ "workspace_id": workspace, "prompt": "look", "images": images });
        let refused = client.call("session/send", send).await.unwrap_err();
        let code = if why == "local" { -32051 } else { -32602 };
        assert_eq!(refused["code"], code, "{refused}");
        assert!(refused["message"].as_str().unwrap().contains(why), "{why}: {refused}");
    }
    door.harness.home.adapter.refuse_images();
    let run = json!({ "workspace_id": workspace, "prompt": "look", "images": [image(PNG)] });
    let refused = client.call("agent/run", run).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("takes no images"), "{refused}");
    let sessions = client.call("session/list", json!({})).await.unwrap();
    assert_eq!(sessions["sessions"], json!([]));
}

#[tokio::test]
async fn a_file_is_found_below_the_folder_and_from_afar_nowhere_else() {
    let mut door = Door::open().await;
    let (mut client, mut local) = (door.client().await, door.local().await);
    let repo = door.harness.home.path().join("repo");
    std::fs::write(repo.join("a b.txt"), "").unwrap();
    std::fs::write(repo.with_file_name("secret"), "").unwrap();
    std::os::unix::fs::symlink("../secret", repo.join("link")).unwrap();
    let workspace = door.workspace().await;
    let send = |file: &str| json!({ "workspace_id": workspace, "prompt": "read", "files": [file] });
    for file in ["../secret", "link", "missing", "/etc/passwd", "a\nb", "a\"b"] {
        let refused = client.call("session/send", send(file)).await.unwrap_err();
        assert_eq!((&refused["code"], &refused["data"]["field"]), (&json!(-32602), &json!("files")), "{file}");
    }
    for (file, found) in [("./a b.txt", "a b.txt"), ("../secret", "/secret")] {
        local.call("session/send", send(file)).await.unwrap();
        let (_runtime, task) = door.runtimes().task().await;
        let TranscriptContentBlock::FileRef { path } = &task.input().messages[0].content[1] else { panic!("{file}") };
        assert!(path.ends_with(found), "{path}");
    }
}

#[tokio::test]
async fn a_session_that_is_there_takes_its_name_its_model_and_its_mode_for_the_next_task() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let ways = [json!({ "session_id": scene.session }), json!({ "workspace_id": scene.workspace })];
    for (mut start, (title, model, mode)) in ways.into_iter().zip([("One", "big", "plan"), ("Two", "small", "auto")]) {
        let change = json!({ "title": title, "model": model, "permission_mode": mode, "runtime_config": {} });
        start.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let attached = client.call("session/start", start.clone()).await.unwrap();
        assert_eq!(attached["session_id"], json!(scene.session));
        let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
        let told = (&state["summary"], &state["model"], &state["mode"]);
        assert_eq!(told, (&json!(title), &json!(model), &json!(mode)), "{start}");
    }
    // The same once more changes nothing, so nothing is written.
    let read = json!({ "session_id": scene.session });
    let before = client.call("log/read", read.clone()).await.unwrap();
    let same = json!({ "session_id": scene.session, "permission_mode": "auto", "model": "small" });
    client.call("session/start", same).await.unwrap();
    assert_eq!(client.call("log/read", read).await.unwrap(), before);
    assert_eq!(scene.agent.input().mode, Mode::Ask, "the task that runs goes on as it began");
    scene.agent.finish().await;
    client.call("session/send", json!({ "session_id": scene.session, "prompt": "go" })).await.unwrap();
    let (_runtime, task) = door.runtimes().task().await;
    assert_eq!((task.input().model.as_deref(), task.input().mode), (Some("small"), Mode::Auto));
}

#[tokio::test]
async fn what_only_a_new_session_can_have_is_refused_for_one_that_is_there() {
    let mut door = Door::open().await;
    let mut client = door.local().await;
    let workspace = door.workspace().await;
    let new = json!({
        "workspace_id": workspace, "mode": "new", "env": { "TOKEN": "very-secret" },
        "isolationLevel": "namespaced", "credential_namespace": "work",
    });
    let started = client.call("session/start", new).await.unwrap();
    let session = started["session_id"].as_str().unwrap();
    for field in [
        json!({ "env": {} }),
        json!({ "isolation": "shared" }),
        json!({ "credential_namespace": "x" }),
        json!({ "runtime_config": { "theme": "dark" } }),
    ] {
        for mut start in [json!({ "session_id": session }), json!({ "workspace_id": workspace })] {
            start.as_object_mut().unwrap().extend(field.as_object().unwrap().clone());
            let refused = client.call("session/start", start).await.unwrap_err();
            assert!(field.get(refused["data"]["field"].as_str().unwrap()).is_some(), "{refused}");
        }
    }
    for (name, why) in [("LD_PRELOAD", "roost.toml"), ("ROOST_RUN", "roost.toml"), ("a b", "letters")] {
        let run = json!({ "prompt": "x", "workspace_id": workspace, "env": { name: "very-secret" } });
        let refused = client.call("agent/run", run).await.unwrap_err();
        assert!(refused["message"].as_str().unwrap().contains(why), "{refused}");
        assert!(!refused.to_string().contains("very-secret"), "{refused}");
    }
    client.call("session/send", json!({ "session_id": session, "prompt": "go" })).await.unwrap();
    let opening = door.runtimes().opening().await;
    let testkit::fake::How::Create(open) = &opening.how else { panic!("{:?}", opening.how) };
    assert_eq!(open.env.env["TOKEN"], "very-secret");
    assert!(std::path::Path::new(&open.env.env["HOME"]).ends_with("work/home"), "{:?}", open.env.env);
    let told = client.call("session/get", json!({ "session_id": session })).await.unwrap();
    let log = client.call("log/read", json!({ "session_id": session })).await.unwrap();
    assert!(!format!("{told}{log}").contains("very-secret") && log.to_string().contains("TOKEN"), "{log}");
}
