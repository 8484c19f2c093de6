//! `roost login` and what `roost runtimes` says of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::kit::RoostInstance;

/// Both CLIs as scripts that tell how they are started.
fn instance() -> RoostInstance {
    let instance = RoostInstance::new();
    let mut config = String::new();
    for id in ["claude", "codex"] {
        let program = instance.work().join(format!("fake-{id}"));
        fs::write(&program, "#!/bin/sh\n[ \"$1\" = --version ] && echo 9.9.9 && exit\necho \"$0 $* in $HOME [$TOKEN]\"\nread line\necho \"got $line\"").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        config += &format!("[runtimes.{id}]\ncommand = {program:?}\n");
    }
    instance.configure(&config);
    instance
}

#[test]
fn at_a_terminal_the_agents_own_login_runs_in_the_namespace() {
    let instance = instance();
    for (id, words) in [("claude", "auth login"), ("codex", "login")] {
        let mut terminal = instance.terminal(&["login", id, "--namespace", "work"]);
        terminal.shows(&format!("fake-{id} {words} in ")).shows("/namespaces/work/home []");
        terminal.types("yes\n").shows("got yes");
        terminal.ended(0);
    }
}

#[test]
fn elsewhere_it_says_how() {
    let instance = instance();
    for (id, words) in [("claude", "auth login"), ("codex", "login")] {
        let done = instance.run(&["login", id]).ended(0);
        assert!(done.stdout.starts_with(&format!("{id}: logged in: no\nTo log in: ")), "{done:#?}");
        assert!(done.stdout.contains(&format!("fake-{id} {words}\n")), "{done:#?}");
        let done = instance.run(&["login", id, "--namespace", "a b", "--print"]).ended(0);
        assert!(done.stdout.contains("/namespaces/a%20b/home' "), "{done:#?}");
    }
    assert!(instance.run(&["login", "demo"]).ended(0).stdout.contains("needs no login"));
    assert!(instance.run(&["login", "nobody"]).ended(2).stderr.contains("claude"));
    instance.configure("[runtimes.claude]\ncommand = 'no-such-program'\n[runtimes.codex]\nisolation = 'ephemeral'");
    assert!(instance.run(&["login", "claude"]).ended(1).stderr.contains("npm install"));
    assert!(instance.run(&["login", "codex"]).ended(2).stderr.contains("namespace"));
}

#[test]
fn runtimes_say_whether_and_how_somebody_is_logged_in_where_their_sessions_live() {
    let instance = instance();
    let logins = |instance: &RoostInstance| -> Vec<(String, bool, String)> {
        let lines = instance.run(&["runtimes", "--json"]).ended(0).stdout;
        let runtimes = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let told = runtimes.map(|one| {
            let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
            (text("id"), one["loggedIn"] == true, text("login"))
        });
        told.filter(|(id, ..)| ["demo", "claude", "codex"].contains(&id.as_str())).collect()
    };
    let expect = |id: &str, is: bool, how: &str| (id.to_owned(), is, how.to_owned());
    let nobody = [expect("demo", true, "unknown"), expect("claude", false, "no"), expect("codex", false, "no")];
    assert_eq!(logins(&instance), nobody);

    let home = instance.work().with_file_name("home");
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/.credentials.json"), "{}").unwrap();
    fs::create_dir_all(home.join(".codex")).unwrap();
    fs::write(home.join(".codex/auth.json"), r#"{"OPENAI_API_KEY":"x"}"#).unwrap();
    let claude = expect("claude", true, "yes, by an account");
    assert_eq!(logins(&instance)[1..], [claude, expect("codex", true, "yes, by a key")]);
    assert!(instance.run(&["runtimes"]).ended(0).stdout.contains("yes, by an account"));

    instance.configure("[runtimes.claude]\ncommand = 'true'\nisolation = 'namespaced'");
    assert_eq!(logins(&instance)[1], expect("claude", false, "no"), "another home, another login");
}

#[test]
fn an_agent_with_a_provider_of_its_own_needs_no_login_and_is_the_default() {
    let instance = RoostInstance::new();
    let program = instance.work().join("codex");
    fs::write(&program, "#!/bin/sh\necho 9.9.9").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let provider =
        "[runtimes.codex.config.model_providers.own]\nbase_url = 'http://127.0.0.1:9/v1'\nenv_key = 'OWN_KEY'";
    instance.configure(&format!(
        "[runtimes.codex]\ncommand = {program:?}\n[runtimes.codex.env]\nOWN_KEY = 'x'\n\
         [runtimes.codex.config]\nmodel_provider = 'own'\n{provider}\n[runtimes.claude]\nstatus = 'disabled'\n"
    ));
    let mut listed = instance.command(&["runtimes", "--json"]);
    let listed = listed.env_remove("ROOST_DEFAULT_RUNTIME").env("PATH", "/usr/bin:/bin").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let codex =
        listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).find(|one| one["id"] == "codex");
    let codex = codex.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!((&codex["login"], &codex["isDefault"]), (&"not needed".into(), &true.into()), "{codex}");
    assert_eq!(codex.get("reason").filter(|reason| !reason.is_null()), None, "{codex}");
}

#[test]
fn a_prompt_that_nobody_can_work_on_says_how_to_log_in_and_is_no_success() {
    let instance = instance();
    let done = instance.run_undecided(&["run", "fix the failing test"]).ended(1);
    for id in ["claude", "codex"] {
        assert!(done.stderr.contains(&format!("roost login {id}\n")), "{done:#?}");
    }
    assert_eq!(done.stdout, "", "nobody answers with a tour");
    assert_eq!(instance.run(&["sessions", "--json"]).ended(0).stdout, "", "nothing was begun");
    let tour = instance.run_undecided(&["run"]).ended(0);
    assert!(tour.stdout.starts_with("Welcome to Roost!"), "{tour:#?}");
}

#[test]
fn a_login_that_is_missing_is_said_before_anything_starts() {
    let instance = instance();
    let done = instance.run(&["run", "--runtime", "claude", "hello"]).ended(1);
    assert!(done.stderr.contains("not logged in to claude: run `roost login claude`."), "{done:#?}");
    assert_eq!(instance.run(&["sessions", "--json"]).ended(0).stdout, "", "nothing was begun");
}
