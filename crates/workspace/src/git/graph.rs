//! Lays out the graph of a log: a column for each commit, and the lines between rows.

/// The shape of a line from one commit's row to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineType {
    /// From the commit to its first parent, in the same column.
    Straight,
    /// From a merge to another parent, in a column to the left.
    MergeLeft,
    /// From a merge to another parent, in a column to the right.
    MergeRight,
    /// A line that came down ends at the commit, which is to the left.
    BranchLeft,
    /// A line that came down ends at the commit, which is to the right.
    BranchRight,
    /// The line passes by, unrelated to the commit.
    Pass,
}

impl LineType {
    /// The value on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Straight => "straight",
            Self::MergeLeft => "merge_left",
            Self::MergeRight => "merge_right",
            Self::BranchLeft => "branch_left",
            Self::BranchRight => "branch_right",
            Self::Pass => "pass",
        }
    }
}

/// A line from one row of the graph to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLine {
    /// The column in which the line begins, at this row.
    pub from_column: usize,
    /// The column in which the line ends, at the next row.
    pub to_column: usize,
    /// The shape of the line.
    pub kind: LineType,
}

/// The column of a commit, and the lines of its row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphPosition {
    /// The column in which the commit is drawn; the leftmost is 0.
    pub column: usize,
    /// The lines that run from this row to the next.
    pub lines: Vec<GraphLine>,
}

/// Lays out commits, which are given as ids and parents, children before their parents.
pub(crate) fn rows(commits: &[(&str, &[String])]) -> Vec<GraphPosition> {
    // What each column waits for, from top to bottom.
    let mut columns: Vec<Option<&str>> = Vec::new();
    let mut rows = Vec::with_capacity(commits.len());
    for (id, parents) in commits {
        let column = columns.iter().position(|waits| *waits == Some(*id)).unwrap_or_else(|| free(&mut columns));
        let mut lines = Vec::new();
        for (from, waits) in columns.iter_mut().enumerate() {
            if from == column || waits.is_none() {
                continue;
            }
            if *waits == Some(*id) {
                *waits = None;
                let kind = if column < from { LineType::BranchLeft } else { LineType::BranchRight };
                lines.push(GraphLine { from_column: from, to_column: column, kind });
            } else {
                lines.push(GraphLine { from_column: from, to_column: from, kind: LineType::Pass });
            }
        }
        columns[column] = parents.first().map(String::as_str);
        if columns[column].is_some() {
            lines.push(GraphLine { from_column: column, to_column: column, kind: LineType::Straight });
        }
        for parent in parents.iter().skip(1) {
            let waiting = columns.iter().position(|waits| *waits == Some(parent.as_str()));
            let to = waiting.unwrap_or_else(|| free(&mut columns));
            columns[to] = Some(parent);
            if to != column {
                let kind = if to < column { LineType::MergeLeft } else { LineType::MergeRight };
                lines.push(GraphLine { from_column: column, to_column: to, kind });
            }
        }
        while columns.last() == Some(&None) {
            columns.pop();
        }
        rows.push(GraphPosition { column, lines });
    }
    rows
}

fn free(columns: &mut Vec<Option<&str>>) -> usize {
    columns.iter().position(Option::is_none).unwrap_or_else(|| {
        columns.push(None);
        columns.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drawn(commits: &[(&str, &[&str])]) -> Vec<String> {
        let parents: Vec<Vec<String>> =
            commits.iter().map(|(_, parents)| parents.iter().map(|&parent| parent.to_owned()).collect()).collect();
        let commits: Vec<_> = commits.iter().zip(&parents).map(|((id, _), parents)| (*id, &parents[..])).collect();
        let line = |line: &GraphLine| format!("{}>{} {}", line.from_column, line.to_column, line.kind.word());
        let row = |row: GraphPosition| {
            format!("{}: {}", row.column, row.lines.iter().map(line).collect::<Vec<_>>().join(", "))
        };
        rows(&commits).into_iter().map(row).collect()
    }

    #[test]
    fn a_line_of_commits_is_a_line() {
        assert_eq!(drawn(&[("c", &["b"]), ("b", &["a"]), ("a", &[])]), ["0: 0>0 straight", "0: 0>0 straight", "0: "]);
    }

    #[test]
    fn a_merge_opens_a_column_and_where_the_branch_began_it_closes() {
        let commits: &[(&str, &[&str])] =
            &[("m", &["b", "x"]), ("x", &["a"]), ("b", &["a"]), ("a", &["root"]), ("root", &[])];
        assert_eq!(
            drawn(commits),
            [
                "0: 0>0 straight, 0>1 merge_right",
                "1: 0>0 pass, 1>1 straight",
                "0: 1>1 pass, 0>0 straight",
                "0: 1>0 branch_left, 0>0 straight",
                "0: ",
            ]
        );
    }

    prop_compose! {
        /// Commits by number, each with parents that come later in the log.
        fn history()(parents in prop::collection::vec(prop::collection::btree_set(1_usize..6, 0..3), 1..40)) -> Vec<Vec<String>> {
            parents.iter().enumerate().map(|(at, steps)| {
                steps.iter().map(|step| at + step).filter(|parent| *parent < parents.len()).map(|p| p.to_string()).collect()
            }).collect()
        }
    }

    proptest! {
        #[test]
        fn the_lines_lead_from_every_commit_to_each_of_its_parents(parents in history()) {
            let ids: Vec<String> = (0..parents.len()).map(|at| at.to_string()).collect();
            let commits: Vec<_> = ids.iter().map(String::as_str).zip(parents.iter().map(Vec::as_slice)).collect();
            let rows = rows(&commits);
            for (at, parents) in parents.iter().enumerate() {
                for parent in parents {
                    let parent: usize = parent.parse().unwrap();
                    let leaving = |line: &&GraphLine| line.from_column == rows[at].column
                        && matches!(line.kind, LineType::Straight | LineType::MergeLeft | LineType::MergeRight);
                    let arrives = rows[at].lines.iter().filter(leaving).any(|line| {
                        let mut column = line.to_column;
                        for row in &rows[at + 1..parent] {
                            let goes_on = row.lines.iter().find(|line| line.from_column == column && line.kind == LineType::Pass);
                            match goes_on {
                                Some(line) => column = line.to_column,
                                None => return false,
                            }
                        }
                        let row = &rows[parent];
                        column == row.column
                            || row.lines.iter().any(|line| line.from_column == column && line.to_column == row.column)
                    });
                    prop_assert!(arrives, "{at} to {parent}: {rows:?}");
                }
            }
        }
    }
}
