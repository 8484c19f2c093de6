//! A few lines in a project's `AGENTS.md` that tell agents of the gateway, between marks by which they are found again.

use super::NAME;

const START: &str = "<!-- roost:gateway:start -->";
const END: &str = "<!-- roost:gateway:end -->";

/// The text with the lines about the gateway, in place of older ones.
pub fn add_guidance(text: &str) -> Result<String, String> {
    let lines = format!(
        "{START}\n## Tools\n\n- The MCP server `{NAME}` offers the tools of this machine's services.\n\
         - Calls may wait for a person to allow them; wait for the answer.\n\
         - If a tool is missing, say so; do not work around it.\n{END}\n"
    );
    let rest = remove_guidance(text)?;
    let gap = if rest.is_empty() { "" } else { "\n" };
    Ok(format!("{rest}{gap}{lines}"))
}

/// The text without these lines.
pub fn remove_guidance(text: &str) -> Result<String, String> {
    match (text.match_indices(START).count(), text.match_indices(END).count()) {
        (0, 0) => return Ok(text.to_owned()),
        (1, 1) => {}
        _ => return Err(format!("the marks {START} and {END} do not belong together")),
    }
    let unpaired = || format!("{END} stands before {START}");
    let (before, rest) = text.split_once(START).ok_or_else(unpaired)?;
    let (_, after) = rest.split_once(END).ok_or_else(unpaired)?;
    let before = before.strip_suffix("\n\n").map_or_else(|| before.to_owned(), |before| format!("{before}\n"));
    Ok(format!("{before}{}", after.strip_prefix('\n').unwrap_or(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_come_once_and_go_without_a_trace() {
        for text in ["", "# Project\n\nRun the tests.\n"] {
            let with = add_guidance(text).unwrap();
            assert!(with.contains("MCP server `roost`"));
            assert_eq!(add_guidance(&with).unwrap(), with);
            assert_eq!(remove_guidance(&with).unwrap(), text);
        }
    }

    #[test]
    fn marks_that_do_not_belong_together_are_refused() {
        for text in [START, END, &format!("{END}{START}"), &format!("{START}{START}{END}")] {
            assert!(add_guidance(text).is_err(), "{text}");
        }
    }
}
