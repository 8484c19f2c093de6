//! Rows in columns that are as wide as they have to be.

use std::io::{self, Write};

use crate::screen::one_line;
use crate::style::Style;

/// Writes the rows under their heads; each column is as wide as its widest cell.
pub(crate) fn write<const N: usize>(
    out: &mut impl Write,
    style: Style,
    heads: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let rows: Vec<[_; N]> = rows.iter().map(|row| row.each_ref().map(|cell| one_line(cell))).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].len()]).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |cells: [&str; N]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", style.dim(line(heads)))?;
    rows.iter().try_for_each(|row| writeln!(out, "{}", line(row.each_ref().map(|cell| &**cell))))
}
