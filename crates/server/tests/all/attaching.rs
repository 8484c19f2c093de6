//! What a prompt brings along besides its words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roost_proto::content::TranscriptContentBlock;
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
        assert_eq!(refused["code"], -32602, "{refused}");
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
