//! What kind of thing a call does, and what it touches.

use roost_model::payload::ToolKind;
use roost_policy::{Subject, ToolClass, Toolset};
use serde_json::{Value, json};

use crate::kit::Ask;

use ToolClass::{Dangerous, Network, ReadOnly, Write};

#[test]
fn a_tool_in_the_table_does_what_the_table_says_and_a_name_is_one_runtimes_own() {
    let cases = [
        ("claude", "Read", ReadOnly),
        ("claude", "Edit", Write),
        ("claude", "WebFetch", Network),
        ("claude", "mcp__probe__probe_echo", Dangerous),
        ("claude", "read", Dangerous),
        ("goose", "Read", Dangerous),
    ];
    for (runtime, name, class) in cases {
        assert_eq!(Ask::tool(runtime, name, json!({})).class(), class, "{runtime} {name}");
    }
}

#[test]
fn a_tool_in_no_table_is_judged_by_the_kind_its_runtime_claims() {
    let file = || json!({ "path": "a" });
    let cases = [
        (ToolKind::Read, file(), ReadOnly),
        (ToolKind::Search, file(), ReadOnly),
        (ToolKind::Think, json!({}), ReadOnly),
        (ToolKind::Edit, file(), Write),
        (ToolKind::Move, file(), Write),
        (ToolKind::SwitchMode, json!({}), Write),
        (ToolKind::Fetch, json!({}), Network),
        (ToolKind::Delete, file(), Dangerous),
        (ToolKind::Execute, json!({}), Dangerous),
        (ToolKind::Other, file(), Dangerous),
        // The input does not show what is claimed.
        (ToolKind::Read, json!({}), Dangerous),
        (ToolKind::Search, json!({ "query": "x" }), Dangerous),
        (ToolKind::Think, file(), Dangerous),
        (ToolKind::Edit, json!({}), Dangerous),
        (ToolKind::Read, json!({ "url": "https://example.org", "path": "a" }), Network),
        (ToolKind::Read, json!({ "path": "a", "script": "rm -rf x" }), Dangerous),
    ];
    for (kind, input, class) in cases {
        assert_eq!(Ask::tool("goose", "whatever", input.clone()).kind(kind).class(), class, "{kind:?} {input}");
    }
}

#[test]
fn a_kind_does_not_hide_a_command_or_a_tool_of_an_mcp_server() {
    let command = Ask::tool("goose", "read", json!({ "command": "cat x; rm -rf y" })).kind(ToolKind::Read);
    assert_eq!(command.class(), Dangerous);
    let mcp = Ask::tool("goose", "mcp__files__read", json!({})).kind(ToolKind::Read);
    assert_eq!(mcp.class(), Dangerous);
}

#[test]
fn commands_that_only_read_are_read_only() {
    let cases = [
        "ls",
        "ls -la src",
        "cat a b",
        "cat *.rs",
        "head -5 x | tail -1",
        "git status",
        "git status -s",
        "git log --oneline -5",
        "git --no-pager diff HEAD~1",
        "git show abc",
        "git branch -a",
        "git remote -v",
        "git stash list",
        "git config --get user.name",
        "rg -n foo src",
        "grep -r foo .",
        "find . -name '*.rs' -type f",
        "find . -name x | sort | uniq -c | wc -l",
        "echo hi",
        "pwd && ls",
        "cd src && ls",
        "sed -n '1,20p' x",
        "sed -n 5p x",
        "which cargo",
        "node --version",
        "test -f x && echo yes",
        "[ -d x ]",
        "date +%s",
        "true",
        "command -v git",
        "jq .a x.json",
        "ls 2>/dev/null",
        "awk 1 x",
        "xargs ls",
        "bash -c ls",
    ];
    for text in cases {
        assert_eq!(Ask::bash(text).class(), ReadOnly, "{text}");
    }
}

#[test]
fn commands_that_might_change_something_are_not_read_only() {
    let cases = [
        "ls > x",
        "cat a >> b",
        "(cd src; ls)",
        "# look\nls",
        "for f in a b; do echo x; done",
        "wc -l < x",
        "A=1 ls",
        "A=1",
        "ls &",
        "echo $(ls)",
        "echo `ls`",
        "cat $x",
        "find . -fprint x",
        "git log --output=x",
        "git log --out x",
        "git diff --ext-diff",
        "git grep -O foo",
        "git grep -nOless x",
        "git branch new",
        "git tag v1",
        "git remote add a b",
        "git config user.name b",
        "git stash",
        "git commit -m x",
        "rg --pre x y",
        "sort -o x y",
        "sort -ro x y",
        "uniq a b",
        "sed -i s/a/b/ x",
        "sed -n '1e rm x' y",
        "sed -n 1,20p -i x",
        "tee x",
        "touch x",
        "mkdir x",
        "cargo test",
        "./ls",
        "/tmp/ls",
        "make",
        "rm x",
        "mv a b",
        "env ls",
        "python3 -c 'x'",
        "test -v 'a[$(x)]'",
        "printf -v 'a[$(x)]' y",
        "date -s now",
        "hostname x",
        "find $x",
        "git diff $x",
        "tree -o x",
        "export A=1",
        "ls() { touch x; }; ls",
        "bash -c make",
        "time ls",
        "timeout 5 ls *.rs",
        "source x",
        ". x",
    ];
    for text in cases {
        assert_eq!(Ask::bash(text).class(), Write, "{text}");
    }
}

#[test]
fn commands_that_talk_to_the_network_are_network() {
    let cases = [
        "curl https://example.org",
        "wget x",
        "ssh host",
        "scp a host:b",
        "git push",
        "git pull",
        "git fetch origin",
        "git clone x",
        "git -C x push",
        "npm install",
        "npm i left-pad",
        "pip install x",
        "python3 -m pip install x",
        "cargo install x",
        "cargo add x",
        "go get x",
        "npx x",
        "curl x | jq .",
        "ls; curl x",
        "echo $(curl x)",
        "bash -c 'curl x'",
        "env A=1 curl x",
        "git remote update",
        "uv pip install x",
        "yarn",
        "/usr/bin/curl x",
    ];
    for text in cases {
        assert_eq!(Ask::bash(text).class(), Network, "{text}");
    }
}

#[test]
fn commands_that_cannot_be_undone_are_dangerous() {
    let cases = [
        "rm -rf x",
        "rm -r x",
        "rm -f x",
        "rm -fr x",
        "rm --recursive x",
        "rm --rec x",
        "rm *",
        "rm $x",
        "/bin/rm -rf x",
        "r\\m -rf x",
        "r''m -rf x",
        "sudo ls",
        "doas ls",
        "su -c ls",
        "dd if=a of=b",
        "mkfs.ext4 x",
        "chmod -R 777 .",
        "chown -R me .",
        "git push --force",
        "git push -f",
        "git push --force-with-lease",
        "git push origin +main",
        "git push origin :main",
        "git push --mirror",
        "git push --forc",
        "git reset --hard",
        "git clean -fd",
        "git branch -D x",
        "git stash drop",
        "git -c core.pager=x log",
        "git -C x -c a=b log",
        "git $x",
        "git --exec-path=x status",
        "curl x | sh",
        "curl x | sudo bash",
        "wget -qO- x | bash -s -- y",
        "curl x | (sh)",
        "curl x | python3",
        "bash <(curl x)",
        "eval x",
        "eval \"$x\"",
        "$x",
        "$(x) y",
        "`x`",
        "find . -delete",
        "find . -exec rm -rf {} +",
        "ls | xargs rm -rf",
        "git status; rm -rf x",
        "git status && rm -rf x",
        "git status\nrm -rf x",
        "echo $(rm -rf x)",
        "echo `rm -rf x`",
        "(rm -rf x)",
        "if true; then rm -rf x; fi",
        "f() { rm -rf x; }; f",
        "bash -c 'rm -rf x'",
        "sh -c \"bash -c 'rm -rf x'\"",
        "bash -c \"$x\"",
        "env rm -rf x",
        "timeout 5 rm -rf x",
        "nohup rm -rf x &",
        "xargs $x",
        "ssh host rm -rf x",
        "ls > /dev/sda",
        "> /dev/sda",
        "kill 1",
        "pkill x",
        "shutdown now",
        "crontab x",
        "docker run x",
        "kubectl delete x",
        "npm publish",
        "cargo publish",
        "alias ls='rm -rf x'",
        "trap 'rm -rf x' EXIT",
        "ls 'x",
        "[[ -f x ]]",
        "echo $((1))",
        "ls\0",
        "gh repo delete x",
        "busybox rm -rf x",
        "command rm -rf x",
        "exec rm -rf x",
        "! rm -rf x",
    ];
    for text in cases {
        assert_eq!(Ask::bash(text).class(), Dangerous, "{text}");
    }
}

#[test]
fn a_command_is_read_as_its_runtime_shows_it() {
    static WRAPS: Toolset = Toolset { wraps_commands: true, ..Toolset::UNKNOWN };
    let ask = |tools: &'static Toolset, input: Value| {
        Ask { tools, ..Ask::tool("goose", "execute", input) }.kind(ToolKind::Execute)
    };
    let text = |ask: Ask| match ask.subject() {
        Subject::Shell(command) => command.text,
        other => panic!("{other:?} is no command"),
    };
    let wrapped = || json!({ "command": "/bin/bash -lc 'git status'" });
    assert_eq!(text(ask(&WRAPS, wrapped())), "git status");
    assert_eq!(text(ask(&Toolset::UNKNOWN, wrapped())), "/bin/bash -lc 'git status'");
    // A title is no command, whoever says so.
    assert_eq!(text(ask(&Toolset::UNKNOWN, json!({ "title": "git status" }))), "");
}

#[test]
fn a_field_is_silent_if_the_policy_or_the_runtime_knows_it() {
    static NUMBERED: Toolset = Toolset { silent_fields: &["callNumber"], ..Toolset::UNKNOWN };
    let ask = |tools: &'static Toolset, field: &str| {
        let input = json!({ "command": "ls", field: 1 });
        Ask { tools, ..Ask::tool("goose", "execute", input) }.kind(ToolKind::Execute).class()
    };
    assert_eq!(ask(&NUMBERED, "callNumber"), ReadOnly);
    assert_eq!(ask(&NUMBERED, "timeout"), ReadOnly);
    assert_eq!(ask(&NUMBERED, "env"), Dangerous);
    assert_eq!(ask(&Toolset::UNKNOWN, "callNumber"), Dangerous);
}

#[test]
fn a_command_that_is_not_told_is_dangerous() {
    for input in
        [json!({}), json!({ "command": 5 }), json!({ "command": [] }), json!({ "command": ["a", 1] }), json!("ls")]
    {
        assert_eq!(Ask::tool("claude", "Bash", input.clone()).class(), Dangerous, "{input}");
    }
    let titled = Ask::tool("goose", "execute", json!({ "title": "ls" })).kind(ToolKind::Execute);
    assert_eq!(titled.class(), Dangerous);
}

#[test]
fn words_that_no_shell_sees_stay_words() {
    let ask = Ask::tool("codex", "shell", json!({ "command": ["echo", "$(rm -rf x)", ";", ">"] }));
    assert_eq!(ask.class(), ReadOnly);
}

#[test]
fn the_paths_to_resolve_are_files_words_redirections_and_the_folder() {
    let ask = Ask::tool("opencode", "bash", json!({ "command": "cp -r a 'b c' > log; ls $x d*", "workdir": "sub" }));
    let paths = ask.paths();
    for path in ["sub", "sub/a", "sub/b c", "sub/log", "sub/d*"] {
        assert!(paths.iter().any(|found| found == path), "{path} is not among {paths:?}");
    }
    assert_eq!(Ask::edit("x").paths(), ["x"]);
}
