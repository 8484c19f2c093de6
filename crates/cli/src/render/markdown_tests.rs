use super::*;
use crate::style::Style;

const PLAIN: Format = Format { style: Style::PLAIN, width: 40, prefix: "" };
const COLOURED: Format = Format { style: Style::COLOURED, width: 40, prefix: "" };

/// Everything that Markdown can be, as agents write it.
const DOCUMENT: &str = "\
# What I found

The **parser** is in `src/parse.rs` and uses *two* passes; a_name_with_lines and 2 * 3 stay as they are.
This is a second line of it, see [the guide](https://example.com/guide) or <https://example.com>.

1. First the words, which are so many that they need a second line.
   - nested, with **bold**
   - again
2. Then the code:
   ```rust
   // one
   fn main() { let text = \"a // b\"; }
   ```

- [x] done
- [ ] open

> A quote that goes on
> in a second line.

| Name | What it is for |
|---|---|
| `a` | short |
| b | a long text that does not fit into the line at all |

```diff
-old
+new
```
---
The end.
";

fn streamed(format: Format, source: &str, size: usize) -> String {
    let mut stream = MarkdownStream::new(format);
    let characters: Vec<char> = source.chars().collect();
    let mut text: String =
        characters.chunks(size).map(|piece| stream.push(&piece.iter().collect::<String>())).collect();
    text.push_str(&stream.finish());
    text
}

fn whole(format: Format, source: &str) -> String {
    MarkdownStream { source: source.into(), ..MarkdownStream::new(format) }.finish()
}

#[test]
fn every_kind_of_block_has_its_form() {
    insta::assert_snapshot!("plain", whole(PLAIN, DOCUMENT));
    insta::assert_snapshot!("coloured", whole(COLOURED, DOCUMENT).replace('\x1b', "^"));
    insta::assert_snapshot!("thought", whole(Format { prefix: "┊ ", ..PLAIN }, DOCUMENT));
}

#[test]
fn a_text_looks_the_same_in_whatever_pieces_it_comes() {
    let documents = [
        DOCUMENT,
        "A sentence with a bracket (**of bold words** and `some code`) and\n\\*`code`.\n",
        "`**!end. `[end. \n",
        "one\n   \ntwo\n",
        "> quoted\n\n```\ncode",
    ];
    for document in documents {
        for format in [PLAIN, COLOURED, Format { prefix: "┊ ", ..PLAIN }, Format { width: 200, ..PLAIN }] {
            for size in [1, 2, 3, 7, 50, 100_000] {
                assert_eq!(streamed(format, document, size), whole(format, document), "in pieces of {size}");
            }
        }
    }
}

#[test]
fn a_long_text_in_one_piece_is_not_cut_where_its_blocks_are_short() {
    let document = format!("{}and the last one", "A paragraph.\n\n".repeat(2000));
    let mut stream = MarkdownStream::new(PLAIN);
    let shown = stream.push(&document) + &stream.push(" goes on\n") + &stream.finish();
    assert!(shown.ends_with("A paragraph.\n\nand the last one goes on"), "{}", &shown[shown.len() - 60..]);
}

#[test]
fn a_piece_is_shown_as_soon_as_nothing_can_change_it() {
    let table: [(&[&str], &str); 14] = [
        (&["one", " two", " three"], "one two"),
        (&["1 2", " 3 4"], "1 2 3"),
        (&["1. ", "2"], ""),
        (&["one **two", " three"], "one"),
        (&["one **two", " three** four "], "one **two three** four"),
        (&["2 * 3 ", "is 6 "], "2 * 3 is 6"),
        (&["snake_case is ", "a name "], "snake_case is a name"),
        (&["see [this](", "http://x y "], "see"),
        (&["see [1] ", "there "], "see [1] there"),
        (&["```\none\ntwo"], "  one"),
        (&["```\none\ntwo\n"], "  one\n  two"),
        (&["| a | b |\n"], ""),
        (&["one\n", "- two "], "one\n• two"),
        (&["one\n", "- "], "one"),
    ];
    for (pieces, expected) in table {
        let mut stream = MarkdownStream::new(PLAIN);
        let shown: String = pieces.iter().map(|piece| stream.push(piece)).collect();
        assert_eq!(shown, expected, "{pieces:?}");
    }
}

#[test]
fn what_is_written_stays_though_the_next_line_gives_it_another_meaning() {
    let shown = streamed(PLAIN, "A title\n---\n\ntext\n", 3);
    assert_eq!(shown, format!("A title\n{}\n\ntext", "─".repeat(40)));
}

#[test]
fn entities_become_no_characters_that_hide_or_steer_a_terminal() {
    let source = "a&#27;[2J &#x202e;b [x](http://&#8206;y) `&#27;`\n";
    assert_eq!(whole(PLAIN, source), "a␛[2J <U+202E>b x (http://<U+200E>y)\n`&#27;`");
}

#[test]
fn a_block_without_end_is_shown_while_it_comes_and_not_kept() {
    let line = "word ".repeat(20) + "\n";
    for begin in ["", "```\n", "- "] {
        let mut stream = MarkdownStream::new(PLAIN);
        let mut shown = stream.push(begin).len();
        for _ in 0..400 {
            shown += stream.push(&line).len();
            assert!(stream.source.len() < 2 * MAX_BLOCK, "{begin:?}");
        }
        assert!(shown + stream.source.len() >= 38_000, "{begin:?}: {shown}");
    }
    let mut stream = MarkdownStream::new(PLAIN);
    (0..100).for_each(|_| drop(stream.push(&"x".repeat(1000))));
    assert!(stream.source.len() <= MAX_BLOCK + 1000);
}

#[test]
fn characters_that_could_be_marks_do_not_hold_a_text_back_for_long() {
    let mut stream = MarkdownStream::new(PLAIN);
    let shown: usize = (0..500).map(|_| stream.push("a*b (_c) ").len()).sum();
    assert!(shown > 500 * 9 - 2 * MAX_HELD, "{shown}");
}

#[test]
fn a_table_that_cannot_fit_is_shown_row_by_row() {
    let source = "| Name | Path |\n|---|---|\n| one | /a/very/long/path/without/any/spaces/in/it |\n| two | / |\n";
    let expected = "Name: one\nPath: /a/very/long/path/without/any/spaces/in/it\n\nName: two\nPath: /";
    assert_eq!(whole(PLAIN, source), expected);
}

#[test]
fn text_that_turns_out_to_be_something_else_in_many_ways_is_still_shown() {
    let document = "![i](u) ```rust\n⚠\u{fe0f} \tend.     ```rust\n&amp;)!===\nx.y <b>[x](end. | a | b |\n`end. 1. <div>\n\
                    ][```rust\n```rust\n---\nlast\n";
    for size in 1..=8 {
        assert!(streamed(PLAIN, document, size).contains("last"), "in pieces of {size}");
    }
}
