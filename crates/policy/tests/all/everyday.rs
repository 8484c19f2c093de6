//! The reads that agents do all day: a wall that asks about them makes people choose `yolo`.

use std::collections::BTreeSet;

use roost_model::tool::PolicyResult::Allow;

use crate::kit::Ask;

/// Usual read commands of coding agents, one per line, by whoever wrote the tables.
const OURS: &str = include_str!("everyday.txt");
/// The same by somebody who had not seen them.
const OTHERS: &str = include_str!("everyday_second.txt");

/// The commands of a list that ask in `Ask` mode, in a workspace that is one repository.
fn asked_about(commands: &'static str) -> BTreeSet<&'static str> {
    let asks = |text: &&str| {
        let mut ask = Ask::bash(text);
        for path in ask.paths() {
            ask = ask.own_folder(&path, "/home/ada/project");
        }
        ask.result() != Allow
    };
    commands.lines().filter(asks).collect()
}

#[test]
fn at_most_three_of_a_hundred_everyday_reads_ask() {
    for commands in [OURS, OTHERS] {
        let (all, asked) = (commands.lines().count(), asked_about(commands));
        println!("{} of {all} ask: {asked:#?}", asked.len());
        assert!(all >= 300, "{all} commands");
        assert!(asked.len() * 100 <= all * 3, "{} of {all} ask: {asked:#?}", asked.len());
    }
}
