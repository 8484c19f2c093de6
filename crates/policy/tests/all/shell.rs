//! The shell parser.

use std::process::{Command, Stdio};

use proptest::prelude::*;
use roost_policy::shell::{ShellLine, Word, parse, quote};

#[test]
fn simple_commands_are_read_as_the_shell_reads_them() {
    let cases: [(&str, &[&str]); 14] = [
        ("git status", &["git", "status"]),
        ("  git\t status  ", &["git", "status"]),
        ("echo 'a b' \"c d\" e\\ f", &["echo", "a b", "c d", "e f"]),
        ("echo 'a'\"b\"c", &["echo", "abc"]),
        ("echo ''", &["echo", ""]),
        (r#"echo "a\"b\\c\d\$e""#, &["echo", r#"a"b\c\d$e"#]),
        ("git \\\n status", &["git", "status"]),
        ("r\\m x", &["rm", "x"]),
        ("r''m x", &["rm", "x"]),
        ("echo a=b", &["echo", "a=b"]),
        ("echo a#b", &["echo", "a#b"]),
        ("echo '$(x)' '`y`' '&&'", &["echo", "$(x)", "`y`", "&&"]),
        ("find . -name x {}", &["find", ".", "-name", "x", "{}"]),
        ("[ -f x ]", &["[", "-f", "x", "]"]),
    ];
    for (text, argv) in cases {
        assert_eq!(parse(text).unwrap().single().unwrap(), argv, "{text}");
    }
}

#[test]
fn every_command_of_a_line_is_found() {
    let cases: [(&str, &[&str]); 18] = [
        ("a; b", &["a", "b"]),
        ("a && b || c", &["a", "b", "c"]),
        ("a | b |& c", &["a", "b", "c"]),
        ("a & b", &["a", "b"]),
        ("a\nb", &["a", "b"]),
        ("a $(b)", &["b", "a"]),
        ("a \"x $(b; c)\"", &["b", "c", "a"]),
        ("a `b`", &["b", "a"]),
        ("a $(b $(c))", &["c", "b", "a"]),
        ("(a; b)", &["a", "b"]),
        ("{ a; b; }", &["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done", &["a", "b"]),
        ("for x in 1 2; do a; done", &["a"]),
        ("case $x in a|b) c;; (*) d;; esac", &["c", "d"]),
        ("f() { a; }; b", &["a", "b"]),
        ("function f { a; }", &["a"]),
        ("a <<'E' && b\n$(not run)\nE\nc", &["a", "b", "c"]),
    ];
    for (text, programs) in cases {
        let line = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let found: Vec<_> = line.commands.iter().map(|command| command.argv[0].literal().unwrap()).collect();
        assert_eq!(found, programs, "{text}");
        assert_eq!(line.single(), None, "{text}");
    }
}

#[test]
fn words_that_are_not_certain_are_no_literals() {
    let cases = [
        ("a $x", Word::Dynamic),
        ("a ${x}", Word::Dynamic),
        ("a ${x:-y}", Word::Dynamic),
        ("a \"$x\"", Word::Dynamic),
        ("a $1", Word::Dynamic),
        ("a {b,c}", Word::Dynamic),
        ("a =b", Word::Dynamic),
        ("a $x[", Word::Dynamic),
        ("a *.rs", Word::Pattern("*.rs".into())),
        ("a ~/x", Word::Pattern("~/x".into())),
        ("a b?", Word::Pattern("b?".into())),
        ("a [bc]", Word::Pattern("[bc]".into())),
    ];
    for (text, word) in cases {
        assert_eq!(parse(text).unwrap().commands[0].argv[1], word, "{text}");
    }
}

#[test]
fn what_belongs_to_a_command_is_noticed() {
    let line = parse("A=1 a > f 2>&1 < g").unwrap();
    let command = &line.commands[0];
    assert!(command.assigns);
    let redirects: Vec<_> = command.redirects.iter().map(|r| (r.writes, r.target.literal().unwrap())).collect();
    assert_eq!(redirects, [(true, "f"), (true, "1"), (false, "g")]);
    assert_eq!(command.words(), None);
    assert!(parse("a &").unwrap().background);
    assert!(parse("a | b").unwrap().commands[1].piped);
    assert!(parse("a | (b)").unwrap().commands[1].piped);
    assert!(parse("a # b").unwrap().comment);
    assert!(parse("! a").unwrap().structured);
}

#[test]
fn what_is_not_understood_for_certain_is_opaque() {
    let cases = [
        "a 'b",
        "a \"b",
        "a $(b",
        "a `b",
        "a `b \\` c`",
        "a ${x",
        "a ${x:-$(b)}",
        "a ${x@P}",
        "a $((1+1))",
        "((x))",
        "a $'b'",
        "a $\"b\"",
        "a <(b)",
        "a >(b)",
        "x=(a b)",
        "[[ -f x ]]",
        "a (b)",
        "(a",
        "a)",
        "a;;",
        "; a",
        "| a",
        "a |",
        "a &&",
        "if a; fi",
        "then",
        "done",
        "}",
        "a <<E",
        "a <<E\nb",
        "a <<E\n$(b)\nE",
        "a \\",
        "a\0b",
        "a\rb",
        "a \u{202e}b",
        "a\u{200b}",
        "select x",
        "coproc a",
        "a >",
        "a > ; b",
        "for x; a",
        "case x in a) b",
        "a $[1]",
    ];
    for text in cases {
        assert!(parse(text).is_err(), "{text:?} was read as {:?}", parse(text));
    }
}

#[test]
fn lines_that_nest_too_deep_or_are_too_long_are_opaque() {
    assert!(parse(&"$(".repeat(10_000)).is_err());
    assert!(parse(&"(".repeat(10_000)).is_err());
    assert!(parse(&"{ ".repeat(10_000)).is_err());
    assert!(parse(&"f() ".repeat(10_000)).is_err());
    assert!(parse(&"if ".repeat(10_000)).is_err());
    assert!(parse(&"a".repeat(300_000)).is_err());
}

/// Text made of everything that means something to a shell.
fn shell_like(longest: usize) -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a", "git", "rm", " ", " ", "\n", "\t", "'", "\"", "\\", "$", "$(", ")", "`", "{", "}", "${", "(", ";", ";;",
        "&", "&&", "|", "||", "<", ">", ">>", "<<", "<<E", "E", "<<<", ">&", "&>", "#", "!", "*", "~", "=", "x=", "if",
        "then", "fi", "for", "in", "do", "done", "case", "esac", "while", "function", "[[", "é", "\u{202e}", "1", "2",
    ]);
    prop::collection::vec(pieces, 0..longest).prop_map(|pieces| pieces.concat())
}

fn argv() -> impl Strategy<Value = Vec<String>> {
    let word = "[ -~\n\tàß漢]{0,12}".prop_map(String::from);
    prop::collection::vec(word, 1..6).prop_filter("a program has a name", |argv| !argv[0].is_empty())
}

/// The words that a real shell makes of a line, which must be one plain command.
#[allow(clippy::unwrap_used)]
fn words_of(shell: &str, text: &str, folder: &std::path::Path) -> Vec<String> {
    let mut sh = Command::new(shell);
    // Without a path, a line that is more than it seems finds nothing to run.
    sh.env_clear().env("PATH", "/nowhere").current_dir(folder).stdin(Stdio::null());
    let output = sh.arg("-c").arg(format!("printf '%s\\0' {text}")).output().unwrap();
    assert!(output.status.success(), "{text:?}: {output:?}");
    let words = output.stdout.strip_suffix(b"\0").unwrap_or(&output.stdout);
    words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_real_shell_reads_a_plain_command_as_the_parser_does(lines in prop::collection::vec(shell_like(8), 50)) {
        let folder = tempfile::tempdir().unwrap();
        for text in lines {
            // Before the program, the shell skips newlines; after it, they end the command.
            let text = text.trim_start_matches(['\\', '\n', '\t', ' ']);
            if let Some(argv) = parse(text).ok().as_ref().and_then(ShellLine::single) {
                for shell in ["/bin/sh", "/bin/bash"].into_iter().filter(|shell| std::path::Path::new(shell).exists()) {
                    prop_assert_eq!(words_of(shell, text, folder.path()), argv.clone(), "{}: {:?}", shell, text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>(), shell in shell_like(40)) {
        let _ = parse(&text);
        let _ = parse(&shell);
    }

    #[test]
    fn a_quoted_command_is_read_as_itself(argv in argv()) {
        let argv: Vec<_> = argv.iter().map(String::as_str).collect();
        let text = quote(&argv);
        let line = parse(&text).unwrap();
        prop_assert_eq!(line.single(), Some(argv));
    }

    #[test]
    fn an_operator_outside_quotes_never_leaves_one_plain_command(
        first in argv(),
        second in argv(),
        operator in prop::sample::select(vec![
            ";", "&&", "||", "|", "&", "\n", "|&", ">", ">>", "<", "<<", "<<<", "&>", ">&", "<>", ">|", "$(", "`", "(", ")", "$(x)", "`x`", "#",
        ]),
        spaced in any::<bool>(),
    ) {
        let quoted = |argv: &[String]| quote(&argv.iter().map(String::as_str).collect::<Vec<_>>());
        let space = if spaced || operator == "#" { " " } else { "" };
        let text = format!("{}{space}{operator}{space}{}", quoted(&first), quoted(&second));
        if let Ok(line) = parse(&text) {
            prop_assert_eq!(line.single(), None, "{}", text);
        }
    }

    #[test]
    fn an_assignment_before_a_command_never_leaves_it_plain(argv in argv(), name in "[A-Za-z_][A-Za-z0-9_]{0,5}") {
        let argv: Vec<_> = argv.iter().map(String::as_str).collect();
        let line = parse(&format!("{name}=1 {}", quote(&argv))).unwrap();
        prop_assert_eq!(line.single(), None);
    }
}
