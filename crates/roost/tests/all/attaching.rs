//! Images and files that a prompt brings along, through the binary to the real agents and the scripted model.

use std::fs;

use testkit::agents::Agent;

use crate::kit::{RoostInstance, answer};
use crate::real;

/// A whole picture of one pixel.
pub(crate) const PIXEL: &[u8] =
    b"\x89PNG\x0d\x0a\x1a\x0a\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\x0d\
    IDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// An instance where this agent can be used, with an image and a file to show it.
fn instance(agent: Agent, id: &str, args: &[&str]) -> RoostInstance {
    let instance = real::instance(agent, id, args);
    fs::write(instance.work().join("pixel.png"), PIXEL).unwrap();
    fs::write(instance.work().join("notes.txt"), "FILE:blue\n").unwrap();
    instance
}

const BOTH: &str = "LOOK saw 1 image(s): image/png; 1 file(s): blue";

fn look(instance: &RoostInstance, table: &str) -> String {
    let args = ["run", "--json", "--runtime", table, "--image", "pixel.png", "--file", "notes.txt", "SCRIPT:look"];
    let events = instance.run(&args).ended(0).events(1);
    let started = events.iter().find(|event| event["type"] == "task.started").unwrap();
    let content = &started["payload"]["messages"][0]["content"];
    assert_eq!((&content[1]["media_type"], &content[1]["name"]), (&"image/png".into(), &"pixel.png".into()));
    assert_eq!(content[2]["path"], "notes.txt");
    answer(&events)
}

#[test]
fn claude_sees_an_image_and_reads_a_file_that_is_mentioned() {
    let instance = instance(Agent::Claude, "claude", &[]);
    assert_eq!(look(&instance, "claude"), BOTH);
}

#[test]
fn codex_sees_an_image_and_is_shown_a_file() {
    let instance = instance(Agent::Codex, "codex", &[]);
    assert_eq!(look(&instance, "codex"), BOTH);
}

#[test]
fn opencode_sees_an_image_and_reads_a_file() {
    let instance = instance(Agent::OpenCode, "opencode", &[]);
    assert_eq!(look(&instance, "opencode"), BOTH);
}

#[test]
fn gemini_sees_an_image_and_reads_a_file_that_is_linked() {
    let instance = instance(Agent::Gemini, "gemini", &["-m", "gemini-2.5-pro"]);
    assert_eq!(look(&instance, "gemini"), BOTH);
    fs::write(instance.work().join("a b?.txt"), "FILE:green\n").unwrap();
    let args = ["run", "--json", "--runtime", "gemini", "--file", "a b?.txt", "SCRIPT:look"];
    assert_eq!(answer(&instance.run(&args).ended(0).events(1)), "LOOK saw 0 image(s): ; 1 file(s): green");
}

#[test]
fn an_acp_agent_sees_an_image_and_reads_a_file_that_is_linked() {
    // One at a time: the Gemini CLI forgets images where a file is linked.
    let instance = instance(Agent::Gemini, "acp-gemini", &["-m", "gemini-2.5-pro", "--acp"]);
    let cases = [
        (["--image", "pixel.png"], "LOOK saw 1 image(s): image/png; 0 file(s): "),
        (["--file", "notes.txt"], "LOOK saw 0 image(s): ; 1 file(s): blue"),
    ];
    for (attached, expected) in cases {
        let args = [&["run", "--json", "--runtime", "acp-gemini"], &attached[..], &["SCRIPT:look"]].concat();
        assert_eq!(answer(&instance.run(&args).ended(0).events(1)), expected);
    }
}

#[test]
fn an_agent_that_takes_no_images_is_never_started_with_one() {
    let instance = RoostInstance::new();
    fs::write(instance.work().join("pixel.png"), PIXEL).unwrap();
    let done = instance.run(&["run", "--json", "--image", "pixel.png", "hello"]).ended(2);
    assert!(done.stderr.contains("\"demo\" takes no images"), "{done:#?}");
    assert!(!done.stdout.contains("task.started"), "{done:#?}");
    let done = instance.run(&["run", "--json", "--file", "missing.txt", "hello"]).ended(2);
    assert!(done.stderr.contains("there is no file"), "{done:#?}");
}
