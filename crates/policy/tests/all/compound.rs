//! Lines of several commands, as agents write them all day: what asks, what is offered, and what runs after a yes.

use std::path::Path;
use std::process::Command;

use roost_model::mode::Mode;
use roost_model::tool::PolicyResult::{Allow, Ask as Asks, Deny};
use roost_policy::shell::parse_plain;
use roost_policy::{Effect, Pattern, Remembered, Scope};
use serde_json::json;

use crate::kit::{Ask, WORKSPACE, allow, command, deny};

fn answer(words: &[&str]) -> Remembered {
    Remembered {
        scope: Scope::Workspace(WORKSPACE.into()),
        effect: Effect::Allow,
        runtime: None,
        tool: None,
        pattern: Some(command(words)),
    }
}

/// A line in a workspace with a folder `sub` of its own repository, and one that is another repository.
fn line(text: &str) -> Ask {
    let ask = Ask::bash(text).own_folder("sub", "/home/ada/project/sub").own_folder("sub/a", "/home/ada/project/sub/a");
    let ask = ask.own_folder("/home/ada/project/sub", "/home/ada/project/sub");
    let ask = ask.own_folder(".git", "/home/ada/project/.git").own_folder("hooks", "/home/ada/project/.git/hooks");
    let ask = ask.own_folder("node_modules/evil", "/home/ada/project/node_modules/evil");
    ask.leads("nested", "/home/ada/project/nested").leads("link", "/etc").leads("/tmp", "/tmp")
}

/// The offers of the narrowest scope, as a person reads them.
fn offered(ask: &Ask) -> Vec<String> {
    let offers = ask.evaluation().remember;
    let of_session = offers.iter().filter(|offer| matches!(offer.scope, Scope::Session(_)));
    of_session.filter_map(|offer| offer.pattern.as_ref()).map(ToString::to_string).collect()
}

#[test]
fn the_usual_lines_ask_once_and_run_after_a_yes() {
    let cases: [(&str, &[&str]); 28] = [
        ("cargo build 2>&1", &["cargo build *"]),
        ("cargo build 2>&1 | tail -20", &["cargo build *"]),
        ("cargo test -p core 2>&1 | grep -n FAILED | head", &["cargo test *"]),
        ("cd sub && npm test 2>&1 | tail", &["npm test *"]),
        ("cd sub; npm test", &["npm test *"]),
        ("FOO=1 npm run build", &["FOO=1 npm run build *"]),
        ("CI=true NODE_ENV=test npm test -- --coverage", &["CI=true NODE_ENV=test npm test *"]),
        ("git add -A && git commit -m 'two words'", &["git add *", "git commit *"]),
        ("git add src/a.rs && git commit -m x && git status", &["git add *", "git commit *"]),
        ("git status && git add -u", &["git add *"]),
        ("npm run lint && npm run build && npm test", &["npm run lint *", "npm run build *", "npm test *"]),
        ("npm test || true", &["npm test *"]),
        ("npm test; echo $?", &["npm test *"]),
        ("npm test; echo \"exit: $?\"", &["npm test *"]),
        ("git commit -m \"$(cat <<'EOF'\nfix(x): it works\n\nA longer text.\nEOF\n)\"", &["git commit *"]),
        ("git add -A && git commit -m \"$(cat <<'EOF'\none\nEOF\n)\" && git status", &["git add *", "git commit *"]),
        ("npm test </dev/null >/dev/null 2>&1", &["npm test *"]),
        ("make all 2>/dev/null | head -5", &["make all"]),
        ("mkdir -p out && make all", &["mkdir -p out", "make all"]),
        ("./gradlew test 2>&1 | tail -20", &["./gradlew test"]),
        ("RUST_LOG=debug cargo test parsing", &["RUST_LOG=debug cargo test *"]),
        ("GOOS=linux GOARCH=amd64 go build ./...", &["GOOS=linux GOARCH=amd64 go build *"]),
        ("LC_ALL=C.UTF-8 make all", &["LC_ALL=C.UTF-8 make all"]),
        ("cd /home/ada/project/sub && npx tsc --noEmit 2>&1 | head -20", &["npx tsc --noEmit"]),
        ("RUST_BACKTRACE=1 cargo test 2>&1", &["RUST_BACKTRACE=1 cargo test *"]),
        ("cargo fmt && cargo fmt && cargo fmt", &["cargo fmt *"]),
        ("cd sub && cd a && go test ./...", &["go test *"]),
        ("ls && touch x", &["touch x"]),
    ];
    for (text, expected) in cases {
        let ask = line(text);
        assert_eq!(ask.result(), Asks, "{text}");
        assert_eq!(offered(&ask), expected, "{text}");
        for scope in ["session", "workspace", "always"] {
            let offers = ask.evaluation().remember;
            let yes: Vec<_> = offers.into_iter().filter(|offer| offer.scope.as_str() == scope).collect();
            assert_eq!(line(text).remember(&yes).verdict(), (Allow, format!("remembered:{scope}")), "{text}");
            for missing in 0..yes.len() {
                let mut some = yes.clone();
                some.remove(missing);
                assert_eq!(line(text).remember(&some).result(), Asks, "{text} without {missing}");
            }
        }
    }
}

#[test]
fn a_line_that_only_reads_needs_no_answer() {
    for text in ["grep -rn x src 2>/dev/null | head", "cd sub && git status 2>&1 | tail", "ls || true"] {
        assert_eq!(line(text).result(), Allow, "{text}");
    }
}

#[test]
fn what_is_covered_already_is_not_offered_again() {
    let ask = line("git add . && git commit -m x").remember(&[answer(&["git", "add", "*"])]);
    assert_eq!(offered(&ask), ["git commit *"]);
    let by_rule = line("git add . && git commit -m x").rule(allow(command(&["git", "add", "*"])));
    assert_eq!(offered(&by_rule), ["git commit *"]);
    let both = by_rule.remember(&[answer(&["git", "commit", "*"])]);
    assert_eq!(both.verdict(), (Allow, "rule:git add *".to_owned()));
}

#[test]
fn nothing_rides_along_with_remembered_parts() {
    let memory = [
        answer(&["npm", "test", "*"]),
        answer(&["CI=1", "npm", "test", "*"]),
        answer(&["git", "add", "*"]),
        answer(&["git", "commit", "*"]),
        answer(&["export", "PATH=bin"]),
        answer(&["psql", "db"]),
        answer(&["printf", "-v", "PATH", "x"]),
        answer(&["-", "npm", "test"]),
        answer(&["builtin", "cd", "/tmp"]),
        answer(&["/usr/bin/git", "add", "."]),
        answer(&["ln", "-s", "/tmp", "made"]),
    ];
    let lines = [
        "npm test; rm -rf x",
        "npm test && touch x",
        "npm test || touch x",
        "npm test\ntouch x",
        "npm test & touch x",
        "npm test &",
        "npm test | sh",
        "npm test | tee x",
        "npm test | xargs touch",
        "npm test > ~/.bashrc",
        "npm test > x",
        "npm test >> x",
        "npm test 2>x",
        "npm test &>x",
        "npm test >& x",
        "npm test >/dev/null2",
        "npm test > /dev/null/../x",
        "npm test < x",
        "npm test <<< x",
        "npm test $(touch x)",
        "npm test `touch x`",
        "npm test $x",
        "npm test *",
        "(npm test; touch x)",
        "if npm test; then touch x; fi",
        "! npm test",
        "npm test # x",
        "FOO=$(x) npm test",
        "FOO=`x` npm test",
        "FOO=1 npm test",
        "CI=2 npm test",
        "CI=1 FOO=1 npm test",
        "CI=1 CI=1 npm test",
        "ci=1 npm test",
        "'CI=1' npm test",
        "CI=1 git add .",
        "CI=1; npm test; touch x",
        "PATH=. npm test",
        "PATH= npm test",
        "PATH+=:. npm test",
        "env PATH=. npm test",
        "export PATH=bin && npm test",
        "export PATH=bin; ls",
        "echo x | psql db",
        "psql db < x",
        "cat x | npm test",
        "cd .. && npm test",
        "cd link && npm test",
        "cd /tmp && npm test",
        "cd && npm test",
        "cd - && npm test",
        "cd $x && npm test",
        "cd sub | npm test",
        "cd sub && cd /tmp; npm test",
        "cd nested && git add .",
        "cd nested; git commit -m x",
        "cd nested && git status && npm test",
        "ln -s /tmp made && cd made && npm test",
        "cd .git && npm test",
        "cd hooks && npm test",
        "cd node_modules/evil && npm test",
        "cd sub && npm test --prefix /tmp",
        "cd sub && npm test -- -c /tmp/evil.js",
        "git add . && git -c core.pager=x commit",
        "git add . && git push",
        "/tmp/npm test && npm test",
        "./npm test && npm test",
        "bash -c 'npm test; touch x'",
        "npm test; source x",
        "npm test; eval x",
        "npm test; npm() { touch x; }; npm test",
        "alias npm=x; npm test",
        "printf -v PATH x && npm test",
        "- npm test; npm test",
        "builtin cd /tmp && npm test",
        "test -v x[$(touch x)] && npm test",
        "npm test && cd sub && npm test",
        "cd ./nested && git commit -m x",
        "cd sub && cd ../nested && git add .",
        "cd nested && /usr/bin/git add .",
    ];
    for text in lines {
        assert_eq!(line(text).remember(&memory).result(), Asks, "{text:?}");
    }
    assert_eq!(line("cd nested && npm test").remember(&memory).result(), Allow, "only git asks for its own repository");
}

#[test]
fn a_variable_that_chooses_what_runs_is_never_remembered() {
    let lines = [
        "PATH=/x npm test",
        "LD_PRELOAD=x npm test",
        "LD_LIBRARY_PATH=x npm test",
        "DYLD_INSERT_LIBRARIES=x npm test",
        "GIT_DIR=x git add .",
        "GIT_SSH_COMMAND=x npm test",
        "NODE_OPTIONS=x npm test",
        "NODE_PATH=x npm test",
        "PYTHONPATH=x npm test",
        "PYTHONSTARTUP=x npm test",
        "BASH_ENV=x npm test",
        "ENV=x npm test",
        "IFS=x npm test",
        "HOME=x npm test",
        "XDG_CONFIG_HOME=x npm test",
        "EDITOR=x npm test",
        "VISUAL=x npm test",
        "PAGER=x npm test",
        "MANPAGER=x npm test",
        "RUSTC_WRAPPER=x cargo build",
        "RUSTFLAGS=x cargo build",
        "CARGO_HOME=x cargo build",
        "CARGO_BUILD_RUSTC=x cargo build",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=x cargo test",
        "CARGO_ALIAS_TEST=x cargo test",
        "CC=x make all",
        "CFLAGS=x make all",
        "LDFLAGS=x make all",
        "MAKEFLAGS=x make all",
        "GOFLAGS=x go test",
        "GOPATH=x go test",
        "GOROOT=x go test",
        "JAVA_TOOL_OPTIONS=x npm test",
        "MAVEN_OPTS=x npm test",
        "PERL5OPT=x npm test",
        "PERL5LIB=x npm test",
        "RUBYOPT=x npm test",
        "PYTEST_ADDOPTS=x npm test",
        "PYTEST_PLUGINS=x npm test",
        "npm_config_script_shell=x npm test",
        "http_proxy=x npm test",
        "HTTPS_PROXY=x npm test",
        "SHELL=x npm test",
        "CDPATH=x npm test",
        "SSH_ASKPASS=x npm test",
        "PROMPT_COMMAND=x npm test",
        "TS_NODE_PROJECT=./x npm test",
        "TS_NODE_PROJECT=x npm test",
        "DJANGO_SETTINGS_MODULE=x npm test",
        "FLASK_APP=x npm test",
        "GOBIN=x go test",
        "GOENV=x go test",
        "CC_ARM=x make all",
        "HOST_CC=x make all",
        "PROTOC=x cargo build",
        "CCACHE_PREFIX=x make all",
        "PHPRC=x npm test",
        "WGETRC=x npm test",
        "LUA_INIT=x npm test",
        "RSYNC_RSH=x npm test",
        "STACK_YAML=x npm test",
        "TZDIR=x npm test",
        "API_KEY=x npm test",
        "DB_PASSWORD=x npm test",
        "FOO=evil.js npm test",
        "FOO=example.org:80 npm test",
        "FOO=.. npm test",
        "FOO=/tmp/x npm test",
        "FOO=~/x npm test",
        "FOO=-x npm test",
        "FOO='a b' npm test",
        "FOO=a=b npm test",
        "env PATH=x npm test",
        "env LD_PRELOAD=x npm test",
    ];
    for text in lines {
        assert_eq!(offered(&line(text)), [""; 0], "{text}");
        let mut words: Vec<_> = text.split(' ').map(|word| word.trim_matches('\'')).collect();
        if words[0] != "env" {
            let forged = answer(&words);
            assert_eq!(line(text).remember(&[forged]).result(), Asks, "{text}");
            words.remove(0);
            assert_eq!(line(text).remember(&[answer(&words)]).result(), Asks, "{text}");
        }
    }
}

#[test]
fn an_answer_without_a_variable_does_not_cover_one_and_the_other_way_round() {
    let plain = [answer(&["npm", "test", "*"])];
    assert_eq!(line("CI=1 npm test").remember(&plain).result(), Asks);
    let with = [answer(&["CI=1", "npm", "test", "*"])];
    assert_eq!(line("CI=1 npm test -- --coverage").remember(&with).result(), Allow);
    assert_eq!(line("CI='1' npm test").remember(&with).result(), Allow);
    assert_eq!(line("npm test").remember(&with).result(), Asks);
}

#[test]
fn a_command_in_another_folder_of_the_call_is_covered_as_one_behind_a_cd() {
    let memory = [answer(&["npm", "test", "*"])];
    let ask = |folder: &str, real: &str| {
        let input = json!({ "command": "cd a && npm test 2>&1 | tail", "cwd": folder });
        let ask = Ask::tool("claude", "Bash", input).leads(folder, real).remember(&memory);
        let there = format!("{folder}/a");
        ask.leads(&there, &format!("{real}/a")).result()
    };
    assert_eq!(ask("sub", "/home/ada/project/sub"), Allow);
    assert_eq!(ask("/tmp", "/tmp"), Asks);
}

#[test]
fn nothing_is_offered_where_the_answer_would_not_hold() {
    for (folder, real) in [("nested", "/home/ada/project/nested"), ("/tmp", "/tmp")] {
        let input = json!({ "command": "git commit -m x", "cwd": folder });
        let ask = Ask::tool("claude", "Bash", input).leads(folder, real);
        assert_eq!(offered(&ask), [""; 0], "{folder}");
        assert_eq!(ask.remember(&[answer(&["git", "commit", "*"])]).result(), Asks, "{folder}");
    }
}

#[test]
fn a_denied_part_denies_the_line_and_a_plan_runs_nothing() {
    let memory = [answer(&["npm", "test", "*"]), answer(&["git", "commit", "*"])];
    let denied = line("npm test && git commit -m x").remember(&memory).rule(deny(command(&["git", "commit"])));
    assert_eq!(denied.result(), Deny);
    assert_eq!(line("CI=1 npm test").rule(deny(command(&["CI=1", "npm", "test"]))).result(), Deny);
    assert_eq!(line("npm test 2>&1 | tail").remember(&memory).mode(Mode::Plan).result(), Deny);
}

#[test]
fn a_long_line_is_judged_but_not_offered() {
    let text = (0..7).map(|at| format!("touch file{at}")).collect::<Vec<_>>().join(" && ");
    assert_eq!(offered(&line(&text)), [""; 0]);
    let patterns: Vec<_> = (0..7).map(|at| answer(&["touch", &format!("file{at}")])).collect();
    assert_eq!(line(&text).remember(&patterns).result(), Allow);
    assert!(matches!(&patterns[0].pattern, Some(Pattern::Command(words)) if words.len() == 2));
}

#[test]
fn a_message_in_a_here_document_is_text_to_real_shells_and_is_refused_where_it_could_be_more() {
    let accepted = "printf '<%s>' \"$(cat <<'EOF'\nfix(x): it works; & <b> {c} *\n\n  EOF\nlast\n\nEOF\n)\"";
    let words = parse_plain(accepted).unwrap().remove(0).args;
    let text = words[1].literal().unwrap().to_owned();
    for shell in ["/bin/bash", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists()) {
        let ran = Command::new(shell).arg("-c").arg(accepted).output().unwrap();
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), format!("<{text}>"), "{shell}");
    }
    let refused = [
        "git commit -m \"$(cat <<EOF\nx\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\n$(touch x)\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\n`touch x`\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\nit's\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\na) b (c\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\n(a\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\n(a # b)\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\nx\nEOF\ntouch x)\"",
        "git commit -m \"$(cat <<'EOF'\nEOF\ntouch x\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF' x\nx\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\nx\nEOF\n); touch x\"",
        "git commit -m \"$(cat <<'EOF'\nx\nEOF\n)$(touch x)\"",
        "git commit -m \"$(touch x <<'EOF'\nx\nEOF\n)\"",
        "git commit -m $(cat <<'EOF'\nx\nEOF\n)",
    ];
    for text in refused {
        let memory = [answer(&["git", "commit", "*"])];
        assert_eq!(line(text).remember(&memory).result(), Asks, "{text:?}");
    }
}
