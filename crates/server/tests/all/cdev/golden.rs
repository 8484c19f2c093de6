//! The demo agent's session as clients see it.

use roost_server::cdev::element::elements;
use roost_server::cdev::message::messages;
use roost_server::cdev::notify::{Naming, encode};

use super::{demo, project_all};

#[test]
fn the_notifications_of_the_demo_are_the_golden_lines() {
    let events = demo();
    let lines: Vec<_> = project_all(&events)
        .into_iter()
        .flat_map(|(event, notes)| {
            let notes = notes.into_iter().enumerate();
            notes.map(|(k, note)| encode(&note, &format!("{}.{k}", event.seq), Naming::Claude)).collect::<Vec<_>>()
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_messages_of_the_demo_are_the_golden_lines() {
    let lines: Vec<_> = messages(&demo()).iter().map(|message| serde_json::to_string(message).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_elements_of_the_demo_are_the_golden_lines() {
    let lines: Vec<_> = elements(&demo()).iter().map(|element| serde_json::to_string(element).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
