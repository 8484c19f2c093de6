//! A Codex that is too old for its app server, run by `codex exec`: the real one, which says that it is old.

use serde_json::Value;
use testkit::agents::Agent;

use crate::kit::{of_type, script, session_id, wait_for};
use crate::sandbox::Sandbox;

/// A Codex that says it is old and then does this, `$REAL` being the real one; with these variables.
fn old_codex(does: &str, variables: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(Agent::Codex);
    let program = sandbox.instance.work().with_file_name("codex");
    let real = Agent::Codex.program();
    let version = r#"if [ "$1" = --version ]; then echo "codex-cli 0.50.0"; exit; fi"#;
    script(&program, &format!("REAL={}\n{version}\n{does}", real.display()));
    sandbox.configure_with(&format!("command = {program:?}"), variables);
    sandbox
}

const AS_IT_IS: &str = r#"exec "$REAL" "$@""#;

/// What the agent said, whole.
fn agent_text(events: &[Value]) -> String {
    let texts = of_type(events, "model.output.completed").into_iter();
    texts.map(|event| event["payload"]["content"][0]["text"].as_str().unwrap()).collect()
}

fn tokens(events: &[Value]) -> u64 {
    of_type(events, "usage.reported")[0]["payload"]["input_tokens"].as_u64().unwrap()
}

#[test]
fn it_answers_and_says_what_it_cannot_do() {
    let sandbox = old_codex(AS_IT_IS, &[]);
    let events = sandbox.run("ask", "SCRIPT:text", 0);
    assert_eq!(agent_text(&events), "Hello from the scripted model, streaming in several deltas.");
    assert_eq!(of_type(&events, "model.output.delta"), Vec::<&Value>::new());
    let notices = of_type(&events, "runtime.notice");
    let warning = notices[0]["payload"]["message"].as_str().unwrap();
    assert!(warning.contains("0.50.0") && warning.contains("read-only"), "{warning}");

    let listed = sandbox.start(&["runtimes", "--json"]).finish().ended(0).stdout;
    let mut lines = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let codex = lines.find(|line| line["id"] == "codex").unwrap();
    assert_eq!(codex["version"], "0.50.0");
    assert_eq!(codex["supportsInteractiveQuestions"], false);
    let claims = &codex["capabilities"];
    assert_eq!((&claims["supportsStreaming"], &claims["permissionModel"]), (&false.into(), &"runtime".into()));
}

#[test]
fn a_second_task_goes_on_in_the_same_thread_and_counts_its_own_tokens() {
    let sandbox = old_codex(AS_IT_IS, &[]);
    let first = sandbox.run("ask", "SCRIPT:text", 0);
    let second = sandbox.go_on(&session_id(&first), "SCRIPT:recall", 0);
    assert!(agent_text(&second).contains("SCRIPT:text"), "{}", agent_text(&second));
    assert_eq!(tokens(&first), tokens(&second));
    let native = |events: &[Value]| events.last().unwrap()["runtime"]["runtime_session_id"].clone();
    assert_eq!(native(&first), native(&second));
}

#[test]
fn a_thread_that_codex_has_lost_is_rebuilt_from_the_log() {
    let sandbox = old_codex(AS_IT_IS, &[]);
    let first = sandbox.run("ask", "SCRIPT:text", 0);
    sandbox.instance.run(&["down"]).ended(0);
    std::fs::remove_dir_all(sandbox.home().join(".codex/sessions")).unwrap();
    let second = sandbox.go_on(&session_id(&first), "SCRIPT:recall", 0);
    assert!(agent_text(&second).contains("SCRIPT:text"), "{}", agent_text(&second));
}

#[test]
fn the_sandbox_of_the_mode_is_what_holds_it() {
    let sandbox = old_codex(AS_IT_IS, &[]);
    let out = sandbox.instance.work().join("out.txt");
    sandbox.run("ask", "SCRIPT:shell", 0);
    assert!(!out.exists(), "in a read-only sandbox");
    let events = sandbox.run("accept-edits", "SCRIPT:shell", 0);
    assert!(out.exists());
    let done = of_type(&events, "tool.call.completed");
    let word = done[0]["payload"]["policy_snapshot"]["sources"].as_array().unwrap().last().unwrap();
    assert_eq!(word["rule"], "runtime:unasked");
}

#[test]
fn a_stop_leaves_nothing_and_the_session_goes_on() {
    let sandbox = old_codex(AS_IT_IS, &[]);
    let run = sandbox.start(&["run", "--json", "--runtime", "codex", "--permission-mode", "yolo", "SCRIPT:sleep"]);
    wait_for("the tool to run", || (sandbox.sleepers() > 0).then_some(()));
    run.signal(rustix::process::Signal::INT);
    let events = run.finish().ended(130).events(1);
    wait_for("everything to be gone", || sandbox.instance.agents().is_empty().then_some(()));
    let next = sandbox.go_on(&session_id(&events), "SCRIPT:text", 0);
    assert!(agent_text(&next).contains("Hello"), "{next:#?}");
}

#[test]
fn a_provider_that_fails_fails_the_task() {
    let sandbox = old_codex(AS_IT_IS, &[]);
    for (script, retryable) in [("err400", false), ("err429", true), ("err500", true), ("cut", true)] {
        let events = sandbox.run("ask", &format!("SCRIPT:{script}"), 1);
        let error = &of_type(&events, "task.failed")[0]["payload"]["error"];
        assert_eq!((&error["code"], &error["retryable"]), (&"RUNTIME_ERROR".into(), &retryable.into()), "{error}");
    }
}

#[test]
fn one_that_dies_in_the_middle_fails_its_task() {
    let dies = r#"echo '{"type":"thread.started","thread_id":"x"}'; echo "no more" >&2; kill -9 $$"#;
    let events = old_codex(dies, &[]).run("ask", "SCRIPT:text", 1);
    let error = &of_type(&events, "task.failed")[0]["payload"]["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&"RUNTIME_EXITED".into(), &true.into()), "{error}");
    assert!(error["stderr_tail"].as_str().unwrap().contains("no more"), "{error}");
}

#[test]
fn one_that_cannot_begin_says_why() {
    let events = old_codex(r#"echo "the model is unknown" >&2; exit 2"#, &[]).run("ask", "SCRIPT:text", 1);
    let error = &of_type(&events, "task.failed")[0]["payload"]["error"];
    assert!(error["message"].as_str().unwrap().contains("code 2"), "{error}");
    assert!(error["stderr_tail"].as_str().unwrap().contains("the model is unknown"), "{error}");
}

/// Never says that its turn is over, and does not leave.
const SAYS_NO_END: &str =
    r#""$REAL" "$@" | grep -v --line-buffered -e turn.completed -e agent_message; exec sleep 600"#;

#[test]
fn the_end_of_a_turn_is_learned_from_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let stale = r#"{"type":"agent-turn-complete","turn-id":"old","input-messages":["SCRIPT:text"]}"#;
    std::fs::write(file.path(), format!("{stale}\nnot json\n")).unwrap();
    let sandbox = old_codex(SAYS_NO_END, &[("ACPLB_NOTIFY_PATH", file.path().to_str().unwrap())]);
    let events = sandbox.run("ask", "SCRIPT:text", 0);
    assert!(agent_text(&events).contains("Hello from the scripted model"), "{events:#?}");
    wait_for("everything to be gone", || sandbox.instance.agents().is_empty().then_some(()));
}

#[test]
fn the_end_of_a_turn_is_learned_from_a_fifo() {
    let dir = tempfile::TempDir::new().unwrap();
    let fifo = dir.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
    let variables = [("ACPLB_NOTIFY_PATH", fifo.to_str().unwrap()), ("ACPLB_NOTIFY_KIND", "fifo")];
    let events = old_codex(SAYS_NO_END, &variables).run("ask", "SCRIPT:text", 0);
    assert!(agent_text(&events).contains("Hello from the scripted model"), "{events:#?}");
}

#[test]
fn one_that_says_nothing_is_ended_when_it_is_told_how_long_to_wait() {
    let hangs = r#"echo '{"type":"thread.started","thread_id":"x"}'; exec sleep 600"#;
    let sandbox = old_codex(hangs, &[("ACPLB_IDLE_TIMEOUT_MS", "300")]);
    let events = sandbox.run("ask", "SCRIPT:text", 130);
    let end = of_type(&events, "task.stopped")[0];
    assert!(end["payload"]["reason"].as_str().unwrap().contains("ACPLB_IDLE_TIMEOUT_MS"), "{end}");
}

#[test]
fn a_variable_that_makes_no_sense_is_named() {
    let events = old_codex(AS_IT_IS, &[("ACPLB_NOTIFY_KIND", "socket")]).run("ask", "SCRIPT:text", 1);
    let error = &of_type(&events, "task.failed")[0]["payload"]["error"];
    assert!(error["message"].as_str().unwrap().contains("ACPLB_NOTIFY_KIND"), "{error}");
}

#[test]
fn settings_reach_it_in_a_home_of_its_run_and_not_on_its_command_line() {
    let sandbox = Sandbox::new(Agent::Codex);
    let (program, seen) = (sandbox.instance.work().with_file_name("codex"), sandbox.instance.work().join("seen"));
    let version = r#"if [ "$1" = --version ]; then echo "codex-cli 0.50.0"; exit; fi"#;
    let notes = format!("echo \"$@\" >> {}", seen.display());
    script(&program, &format!("REAL={}\n{version}\n{notes}\n{AS_IT_IS}", Agent::Codex.program().display()));
    // Codex's own settings name no model: those of the runtime are all that it has.
    let own = sandbox.home().join(".codex/config.toml");
    let text = std::fs::read_to_string(&own).unwrap();
    let url = text.lines().find_map(|line| line.strip_prefix("base_url = ")).unwrap().to_owned();
    std::fs::write(&own, "check_for_update_on_startup = false\n").unwrap();
    let settings = format!(
        "command = {program:?}\n[runtimes.codex.config]\nmodel = 'gpt-5.5'\nmodel_provider = 'own'\n\
         'features.apps' = false\n'features.plugins' = false\n'features.remote_plugin' = false\n\
         [runtimes.codex.config.'model_providers.own']\nname = 'own'\nbase_url = {url}\nwire_api = 'responses'\n\
         http_headers = {{ x-secret = 'canary' }}"
    );
    sandbox.configure_with(&settings, &[]);
    let first = sandbox.run("ask", "SCRIPT:text", 0);
    assert_eq!(agent_text(&first), "Hello from the scripted model, streaming in several deltas.");
    let second = sandbox.go_on(&session_id(&first), "SCRIPT:recall", 0);
    assert!(agent_text(&second).contains("SCRIPT:text"), "{}", agent_text(&second));
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("exec") && !seen.contains("canary"), "{seen}");
}
