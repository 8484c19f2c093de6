//! `roost.toml` as the binary reads it.

use crate::kit::RoostInstance;

#[test]
fn an_unknown_key_is_named_with_its_file_and_what_was_meant() {
    let instance = RoostInstance::new();
    instance.configure("[sessions]\nidle_timeout = 3");
    let done = instance.run(&["run", "hello"]).ended(2);
    for part in ["roost.toml", "line 2", "idle_timeout", "did you mean `idle_timeout_minutes`?"] {
        assert!(done.stderr.contains(part), "{part}: {done:#?}");
    }
}

#[test]
fn a_named_file_must_be_there() {
    let done = RoostInstance::new().run(&["--config", "nowhere.toml", "sessions"]).ended(2);
    assert!(done.stderr.contains("nowhere.toml"), "{done:#?}");
}

#[test]
fn the_file_may_be_named_by_the_environment() {
    let instance = RoostInstance::new();
    std::fs::write(instance.work().join("other.toml"), "[runtimes.demo]\nstatus = \"disabled\"").unwrap();
    let done = instance.command(&["run", "hello"]).env("ROOST_CONFIG", "other.toml").output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("disabled"));
}

#[test]
fn a_disabled_runtime_is_listed_and_cannot_be_used() {
    let instance = RoostInstance::new();
    instance.configure("[runtimes.demo]\nstatus = \"disabled\"");
    let done = instance.run(&["run", "hello"]).ended(2);
    assert!(done.stderr.contains("disabled"), "{done:#?}");
    assert!(instance.run(&["runtimes"]).ended(0).stdout.contains("disabled in roost.toml"));
}

#[test]
fn an_acp_agent_is_used_by_its_command_with_its_own_variables() {
    let instance = RoostInstance::new();
    let agent = instance.work().join("agent");
    crate::kit::script(&agent, r#"printf '%s' "$GREETING" > greeting; exec "$ROOST" "$@""#);
    let (agent, roost) = (agent.display(), env!("CARGO_BIN_EXE_roost"));
    instance.configure(&format!(
        "default_runtime = 'mine'\n[runtimes.mine]\ncommand = '{agent}'\nargs = ['demo-agent']\n\
         env = {{ GREETING = 'hi', ROOST = '{roost}' }}\ndisplay_name = 'My own'"
    ));
    let events = instance.run_undecided(&["run", "--json", "hello"]).ended(0).events(1);
    assert_eq!(events[0]["payload"]["runtime"], "acp:mine");
    assert_eq!(std::fs::read_to_string(instance.work().join("greeting")).unwrap(), "hi");
    let listed = instance.run_undecided(&["runtimes"]).ended(0).stdout;
    assert!(listed.lines().any(|line| line.contains("mine (default)") && line.contains("My own")), "{listed}");
}

#[test]
fn a_runtime_is_understood_by_each_of_its_names_and_printed_by_its_id() {
    let instance = RoostInstance::new();
    let roost = env!("CARGO_BIN_EXE_roost");
    let mine = format!("[runtimes.mine]\ncommand = '{roost}'\nargs = ['demo-agent']");
    instance.configure(&format!("[runtimes.claude-code]\nstatus = 'disabled'\n{mine}"));
    for name in ["claude", "claude-code", "claude-agent-sdk"] {
        let done = instance.run(&["run", "--runtime", name, "hello"]).ended(2);
        assert!(done.stderr.contains("disabled"), "{name}: {done:#?}");
    }
    instance.run(&["run", "--runtime", "acp:mine", "hello"]).ended(0);
    let listed: serde_json::Value =
        serde_json::from_str(&instance.run(&["sessions", "--json"]).ended(0).stdout).unwrap();
    assert_eq!(listed["runtime"], "mine");
}

#[test]
fn an_isolated_agent_has_a_home_of_its_own() {
    let instance = RoostInstance::new();
    let agent = instance.work().join("agent");
    crate::kit::script(&agent, r#"printf '%s' "$HOME" > home; exit 1"#);
    instance.configure(&format!("[runtimes.x]\ncommand = '{}'\nisolation = 'ephemeral'", agent.display()));
    instance.run(&["run", "--runtime", "x", "hello"]).ended(1);
    let home = std::path::PathBuf::from(std::fs::read_to_string(instance.work().join("home")).unwrap());
    assert!(home.starts_with(instance.state().join("namespaces")), "{home:?}");
    crate::kit::wait_for("the home to be removed", || (!home.exists()).then_some(()));
}
