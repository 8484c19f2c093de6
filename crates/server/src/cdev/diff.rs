//! Computes the diff of a file change, as hunks for a screen.

use roost_rpc::element::{DiffElement, DiffHunk, DiffLine, DiffSummary, LineChange};
use roost_rpc::file_change::Change;
use similar::{ChangeTag, DiffOp, TextDiff};

/// Unchanged lines that are shown before and after a change.
const CONTEXT: usize = 3;
/// The greatest size of the two versions together, in bytes: the time grows with its square.
const COMPARED: usize = 32 * 1024;
/// The greatest size where one version is empty, in bytes: there is nothing to compare then.
const SHOWN: usize = 128 * 1024;

/// The diff of a file change; `None` where it is too big to compare or to show.
pub(super) fn diff(tool_call_id: &str, change: &Change<'_>) -> Option<DiffElement> {
    let one_sided = change.old.is_empty() || change.new.is_empty();
    if change.old.len() + change.new.len() > if one_sided { SHOWN } else { COMPARED } {
        return None;
    }
    let lines = TextDiff::from_lines(change.old, change.new);
    let hunks: Vec<_> = lines.grouped_ops(CONTEXT).iter().map(|ops| hunk(&lines, ops)).collect();
    let count = |wanted| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.change == wanted).count();
    let (added, removed) = (count(LineChange::Added), count(LineChange::Removed));
    Some(DiffElement {
        tool_call_id: tool_call_id.to_owned(),
        file_path: change.path.to_owned(),
        summary: DiffSummary { added, removed, display: format!("+{added} -{removed}") },
        hunks,
    })
}

fn hunk(diff: &TextDiff<'_, '_, '_, str>, ops: &[DiffOp]) -> DiffHunk {
    let lines: Vec<_> = ops.iter().flat_map(|op| diff.iter_changes(op)).map(line).collect();
    let old_count = lines.iter().filter(|line| line.old_line.is_some()).count();
    let new_count = lines.iter().filter(|line| line.new_line.is_some()).count();
    // Of no lines, the one before is named.
    let start = |first: usize, count: usize| if count == 0 { first } else { first + 1 };
    let first = ops.first();
    let old_start = start(first.map_or(0, |op| op.old_range().start), old_count);
    let new_start = start(first.map_or(0, |op| op.new_range().start), new_count);
    let header = format!("@@ -{old_start},{old_count} +{new_start},{new_count} @@");
    DiffHunk { header, old_start, old_count, new_start, new_count, lines }
}

fn line(change: similar::Change<&str>) -> DiffLine {
    DiffLine {
        change: match change.tag() {
            ChangeTag::Equal => LineChange::Context,
            ChangeTag::Insert => LineChange::Added,
            ChangeTag::Delete => LineChange::Removed,
        },
        old_line: change.old_index().map(|index| index + 1),
        new_line: change.new_index().map(|index| index + 1),
        content: change.value().trim_end_matches(['\r', '\n']).to_owned(),
    }
}
