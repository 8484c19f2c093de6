//! `roost demo`: the tour, always one command away.

use std::fs;
use std::path::Path;

use crate::kit::RoostInstance;

#[test]
fn the_tour_works_in_a_folder_that_is_gone_afterwards() {
    let instance = RoostInstance::new();
    let mut demo = instance.terminal(&["demo"]);
    demo.shows("Welcome to Roost!").shows("[n]o: ").types("y\n").shows("Thank you!").shows("\n> ").types("/quit\n");
    let shown = demo.ended(0);
    let (_, words) = shown.split_once("The demo works in ").unwrap();
    let (folder, _) = words.split_once(' ').unwrap();
    assert!(folder.contains("roost-demo-") && !Path::new(folder).exists(), "{folder}");
    assert_eq!(fs::read_dir(instance.work()).unwrap().count(), 0, "the current folder is as it was");
    instance.assert_nothing_left();
}

#[test]
fn the_tour_needs_neither_a_terminal_nor_an_agent_that_is_chosen() {
    let instance = RoostInstance::new();
    let done = instance.run_undecided(&["demo"]).ended(0);
    assert!(done.stdout.contains("Welcome to Roost!") && done.stdout.contains("nothing was written"), "{done:#?}");
}
