//! Rows in columns that fit the terminal.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::screen::{self, one_line};
use crate::style::Style;
use crate::wrap::{beginning, wrapped};

/// Spaces between two columns.
const BETWEEN: usize = 2;
/// Columns at the beginning that are never shortened.
const KEPT: usize = 1;
/// No column gets narrower than this.
const NARROWEST: usize = 8;

/// What becomes of a cell that is too wide. A path is shortened in its middle in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// Its end is left out.
    Cut,
    /// It goes on in further lines.
    Wrap,
    /// The last column, which is a remark, stands under its row; of the others the end is left out.
    LastBelow,
}

/// Writes the rows under their heads. Each column is as wide as its widest cell, unless the terminal is narrower than all
/// of them. The first column is what people type, so it stays whole; it gets a line of its own where the others would
/// have no room.
pub(crate) fn write<const N: usize>(
    out: &mut impl Write,
    style: Style,
    overflow: Overflow,
    heads: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(|cell| &**cell).collect()).collect();
    let rows: Vec<_> = rows.iter().map(Vec::as_slice).collect();
    let (head, rows) = fitted(screen::columns(), overflow, KEPT, &heads, &rows);
    head.iter().try_for_each(|line| writeln!(out, "{}", style.dim(line)))?;
    rows.iter().flatten().try_for_each(|line| writeln!(out, "{line}"))
}

/// The lines of the heads, and those of each row; so many columns stay whole.
fn fitted(
    columns: Option<usize>,
    overflow: Overflow,
    kept: usize,
    heads: &[&str],
    rows: &[&[&str]],
) -> (Vec<String>, Vec<Vec<String>>) {
    let widest = |column: usize| rows.iter().map(|row| row[column].width()).chain([heads[column].len()]).max();
    let mut widths: Vec<_> = (0..heads.len()).map(|column| widest(column).unwrap_or(0)).collect();
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(BETWEEN * (heads.len() - 1)));
    if let (Overflow::LastBelow, Some(columns), [heads @ .., _]) = (overflow, columns, heads)
        && widths.iter().sum::<usize>() > room
    {
        let cells: Vec<_> = rows.iter().map(|row| &row[..heads.len()]).collect();
        let (head, mut lines) = fitted(Some(columns), Overflow::Cut, kept, heads, &cells);
        for (row, lines) in rows.iter().zip(&mut lines) {
            let remark = row.last().filter(|remark| !remark.is_empty());
            let remark = remark.into_iter().flat_map(|remark| wrapped(remark, columns.saturating_sub(BETWEEN)));
            lines.extend(indented(remark));
        }
        return (head, lines);
    }
    while widths.iter().sum::<usize>() > room {
        let shrinkable = (kept..heads.len()).filter(|column| widths[*column] > NARROWEST.max(heads[*column].len()));
        match (shrinkable.max_by_key(|column| widths[*column]), heads) {
            (Some(widest), _) => widths[widest] -= 1,
            (None, [first, others @ ..]) if kept > 0 && !others.is_empty() => {
                let room = columns.map(|columns| columns.saturating_sub(BETWEEN));
                let other_cells: Vec<_> = rows.iter().map(|row| &row[1..]).collect();
                let (head, below) = fitted(room, overflow, 0, others, &other_cells);
                let rows = rows.iter().zip(below).map(|(row, below)| under(row[0], below)).collect();
                return (under(first, head), rows);
            }
            (None, _) => break,
        }
    }
    let lines = |row: &&[&str]| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| fit(cell, *width, overflow)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height).map(|at| line(cells.iter().map(|cell| cell.get(at).map_or("", |part| part)), &widths)).collect()
    };
    (vec![line(heads.iter().copied(), &widths)], rows.iter().map(lines).collect())
}

/// The cell of the first column, and the lines of the others below it.
fn under(first: &str, others: Vec<String>) -> Vec<String> {
    [first.to_owned()].into_iter().chain(indented(others)).collect()
}

fn indented(lines: impl IntoIterator<Item = String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| format!("{}{line}", " ".repeat(BETWEEN)))
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, widths: &[usize]) -> String {
    let padded = cells.zip(widths).map(|(cell, width)| {
        let padding = width.saturating_sub(cell.width());
        format!("{cell}{}", " ".repeat(padding + BETWEEN))
    });
    padded.collect::<String>().trim_end().to_owned()
}

/// The lines of a cell.
fn fit(cell: &str, width: usize, overflow: Overflow) -> Vec<String> {
    let is_path = cell.contains('/') && !cell.contains(' ');
    match overflow {
        _ if cell.width() <= width => vec![cell.to_owned()],
        _ if is_path => vec![shortened(cell, width)],
        Overflow::Cut | Overflow::LastBelow => vec![format!("{}…", beginning(cell, width - 1))],
        Overflow::Wrap => wrapped(cell, width),
    }
}

/// A path without its middle: where it begins, and above all where it ends.
fn shortened(path: &str, width: usize) -> String {
    let head = beginning(path, (width - 1) / 3);
    let reversed: String = path.chars().rev().collect();
    let tail: String = beginning(&reversed, width - 1 - head.width()).chars().rev().collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: [&str; 3] = ["ID", "FOLDER", "TITLE"];
    const ROWS: [&[&str]; 2] =
        [&["0123456789", "/home/ada/src/a/long/way/to/web", "Mend the test"], &["1", "/", "日本語の長い題名です"]];

    fn shown(columns: Option<usize>, overflow: Overflow) -> String {
        let (head, rows) = fitted(columns, overflow, KEPT, &HEADS, &ROWS);
        [head].into_iter().chain(rows).flatten().collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn without_a_terminal_nothing_is_shortened() {
        let expected = "\
ID          FOLDER                           TITLE
0123456789  /home/ada/src/a/long/way/to/web  Mend the test
1           /                                日本語の長い題名です";
        assert_eq!(shown(None, Overflow::Cut), expected);
    }

    #[test]
    fn paths_lose_their_middle_and_texts_their_end() {
        let expected = "\
ID          FOLDER         TITLE
0123456789  /hom…y/to/web  Mend the test
1           /              日本語の長い…";
        assert_eq!(shown(Some(40), Overflow::Cut), expected);
    }

    #[test]
    fn a_text_may_go_on_in_further_lines() {
        let expected = "\
ID          FOLDER    TITLE
0123456789  /h…o/web  Mend the
                      test
1           /         日本語の
                      長い題名
                      です";
        assert_eq!(shown(Some(30), Overflow::Wrap), expected);
    }

    #[test]
    fn a_remark_stands_under_its_row_where_it_does_not_fit() {
        let expected = "\
ID          FOLDER
0123456789  /home/…ng/way/to/web
  Mend the test
1           /
  日本語の長い題名です";
        assert_eq!(shown(Some(32), Overflow::LastBelow), expected);
        assert_eq!(shown(Some(100), Overflow::LastBelow), shown(None, Overflow::Cut));
    }

    #[test]
    fn what_people_type_stays_whole_in_a_line_of_its_own_where_there_is_no_room() {
        let expected = "\
ID
  FOLDER       TITLE
0123456789
  /ho…/to/web  Mend the …
1
  /            日本語の…";
        assert_eq!(shown(Some(25), Overflow::Cut), expected);
    }
}
