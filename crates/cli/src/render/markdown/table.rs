//! Tables of Markdown: as wide as the terminal at most, with cells of several lines where they have to be.

use super::page::Word;
use crate::style::Style;

const BETWEEN: &str = " │ ";
/// Columns that [`BETWEEN`] takes.
const BETWEEN_WIDTH: usize = 3;

type Cell = Vec<Word>;

/// A table that is read; its first row is its head.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// True if the cell is in the head.
    pub(super) fn begin_cell(&mut self) -> bool {
        self.rows.last_mut().into_iter().for_each(|row| row.push(Vec::new()));
        self.is_in_head()
    }

    pub(super) fn is_in_head(&self) -> bool {
        self.rows.len() == 1
    }

    pub(super) fn add(&mut self, word: Word) {
        self.rows.last_mut().and_then(|row| row.last_mut()).into_iter().for_each(|cell| cell.push(word.clone()));
    }

    /// The lines of the table. One that is too narrow for its words is shown row by row, each cell in a line of its own.
    pub(super) fn lines(self, style: Style, width: usize) -> Vec<String> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let mut widths: Vec<_> = (0..columns).map(|column| cells(column).map(cell_width).max().unwrap_or(0)).collect();
        let longest_word = |column: usize| cells(column).flatten().map(|word| word.width).max().unwrap_or(0);
        let room = width.saturating_sub(BETWEEN_WIDTH * columns.saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let shrinkable = (0..columns).filter(|column| widths[*column] > longest_word(*column));
            match shrinkable.max_by_key(|column| widths[*column]) {
                Some(widest) => widths[widest] -= 1,
                None => return self.records(),
            }
        }
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| wrapped(cell, *width)).collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let parts = cells.iter().zip(&widths).map(|(cell, width)| {
                    let (text, used) = cell.get(line).cloned().unwrap_or_default();
                    text + &" ".repeat(width.saturating_sub(used))
                });
                lines.push(parts.collect::<Vec<_>>().join(BETWEEN).trim_end().to_owned());
            }
            if at == 0 {
                let rule: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(style.dim(rule.join("─┼─")).to_string());
            }
        }
        lines
    }

    fn records(&self) -> Vec<String> {
        let text = |cell: &Cell| cell.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let record = |row: &Vec<Cell>| {
            let line = |(name, cell): (&Cell, &Cell)| format!("{}: {}", text(name), text(cell));
            head.iter().zip(row).map(line).collect::<Vec<_>>()
        };
        rows.iter().map(record).collect::<Vec<_>>().join(&String::new())
    }
}

fn cell_width(cell: &Cell) -> usize {
    cell.iter().map(|word| word.width + 1).sum::<usize>().saturating_sub(1)
}

/// The words in lines of this width at most, each with its columns.
fn wrapped(cell: &Cell, width: usize) -> Vec<(String, usize)> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for word in cell {
        match lines.last_mut() {
            Some((line, used)) if *used + 1 + word.width <= width => {
                line.push(' ');
                line.push_str(&word.text);
                *used += 1 + word.width;
            }
            _ => lines.push((word.text.clone(), word.width)),
        }
    }
    lines
}
