//! Secrets stay out of the sight of other users: on no command line, in no file that they can read.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use testkit::agents::Agent;

use crate::kit::{RoostInstance, script, wait_for};
use crate::sandbox::Sandbox;

const CANARY: &str = "canary-5d1f0c";

/// A runtime with a secret in each place where a secret can be, and a word of the command line that starts a session.
struct Case {
    id: &'static str,
    /// What the program says of its version.
    version: &'static str,
    config: &'static str,
    started_by: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        id: "claude",
        version: "2.1.204 (Claude Code)",
        config: "config = { env = { TOKEN = 'CANARY' }, apiKeyHelper = 'echo CANARY' }",
        started_by: "stream-json",
    },
    Case {
        id: "codex",
        version: "codex-cli 0.166.0",
        config: "config = { 'model_providers.x' = { experimental_bearer_token = 'CANARY' }, model_provider = 'x', \
                 'mcp_servers.m.env' = { TOKEN = 'CANARY' }, developer_instructions = 'CANARY' }",
        started_by: "app-server",
    },
    Case {
        id: "codex",
        version: "codex-cli 0.50.0",
        config: "config = { 'model_providers.x' = { experimental_bearer_token = 'CANARY' }, model_provider = 'x' }",
        started_by: " exec ",
    },
    Case {
        id: "gemini",
        version: "0.61.0",
        config: "config = { mcpServers = { m = { command = 'true', env = { TOKEN = 'CANARY' } } } }",
        started_by: "--acp",
    },
    Case {
        id: "opencode",
        version: "1.20.0",
        config: "config = { provider = { x = { options = { apiKey = 'CANARY' } } } }",
        started_by: " serve ",
    },
    Case { id: "kimi", version: "1.0.0", config: "", started_by: "" },
];

#[test]
fn no_secret_of_a_runtimes_settings_or_variables_is_on_a_command_line() {
    for case in CASES {
        let instance = RoostInstance::new();
        let (program, seen) = (instance.work().join("agent"), instance.work().join("seen"));
        // It notes its own command line and its holder's, and leaves; the task fails, which is none of our business.
        let notes = format!("for p in $$ $PPID; do tr '\\0' ' ' < /proc/$p/cmdline; echo; done >> {}", seen.display());
        let version = format!("case \"$*\" in *version*) echo '{}'; exit 0;; esac", case.version);
        script(&program, &format!("{notes}\n{version}\nexit 3"));
        let config = case.config.replace("CANARY", CANARY);
        instance.configure(&format!(
            "[runtimes.{}]\ncommand = {program:?}\n{config}\n[runtimes.{}.env]\nGEMINI_API_KEY = '{CANARY}'\nKEY = '{CANARY}'",
            case.id, case.id
        ));
        // A variable of its own: what the session brings may be its login, so nobody is asked to log in first.
        let variable = format!("OWN={CANARY}");
        let done = instance.run(&["run", "--runtime", case.id, "--env", &variable, "hello"]);
        let seen = fs::read_to_string(&seen).unwrap_or_default();
        assert!(!seen.is_empty() && seen.contains(case.started_by), "{} was not started: {done:#?} {seen}", case.id);
        assert!(!seen.contains(CANARY), "{}: {seen}", case.id);
        instance.assert_nothing_left();
    }
}

#[test]
fn a_running_codex_shows_no_secret_to_whoever_lists_processes_and_uses_it_all_the_same() {
    let sandbox = Sandbox::new(Agent::Codex);
    let home = sandbox.home().join(".codex/config.toml");
    // The home names no model: what the session is told is all that Codex has.
    let own = fs::read_to_string(&home).unwrap();
    let url = own.lines().find_map(|line| line.strip_prefix("base_url = ")).unwrap().to_owned();
    fs::write(&home, "check_for_update_on_startup = false\n[analytics]\nenabled = false\n").unwrap();
    sandbox.configure(&format!(
        "[runtimes.codex.config]\nmodel = 'gpt-5.5'\nmodel_provider = 'own'\n'features.apps' = false\n\
         'features.plugins' = false\n'features.remote_plugin' = false\n\
         [runtimes.codex.config.'model_providers.own']\nname = 'own'\nbase_url = {url}\nwire_api = 'responses'\n\
         http_headers = {{ x-canary = '{CANARY}' }}"
    ));
    let mut run = sandbox.start(&["run", "--json", "--runtime", "codex", "SCRIPT:slow"]);
    run.lines_to("model.output.delta");
    let processes = sandbox.instance.processes();
    assert!(processes.iter().any(|line| line.contains("app-server")), "{processes:?}");
    assert!(!processes.iter().any(|line| line.contains(CANARY)), "{processes:?}");
    sandbox.instance.run(&["down"]).ended(0);
    run.finish();
    sandbox.instance.assert_nothing_left();
}

/// The paths below a folder that others may look at.
fn exposed(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.mode() & 0o077 != 0 && !metadata.is_symlink() {
                found.push(format!("{} {:o}", path.display(), metadata.mode()));
            }
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

#[test]
fn everything_in_the_state_directory_is_for_its_owner_alone() {
    let instance = RoostInstance::new();
    // What the user allows others elsewhere does not count here.
    let mut up = Command::new("sh");
    instance.clear(&mut up).args(["-c", "umask 000; exec \"$0\" serve --tls self-signed", env!("CARGO_BIN_EXE_roost")]);
    let mut serve = crate::kit::RunningCommand::new(&mut up);
    serve.line().unwrap();
    instance.run(&["run", "out", "2000"]).ended(0);
    let mut run = instance.start(&["run", "--json", "stubborn"]);
    run.lines_to("only SIGKILL");
    assert_eq!(instance.state().metadata().unwrap().mode() & 0o777, 0o700);
    for name in ["roost.db", "roost.db-wal", "artifacts", "run", "lock", "daemon.json", "local.secret", "tls.key"] {
        assert!(instance.state().join(name).exists(), "{name}");
    }
    assert_eq!(exposed(&instance.state()), Vec::<String>::new());
    instance.run(&["down"]).ended(0);
    run.finish();
    instance.assert_nothing_left();
}

#[test]
fn a_state_directory_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    let instance = RoostInstance::new();
    fs::create_dir(instance.state()).unwrap();
    fs::set_permissions(instance.state(), Permissions::from_mode(0o755)).unwrap();
    for command in [&["up"][..], &["run", "hello"], &["serve"]] {
        let refused = instance.run(command).ended(1);
        let mends = format!("`chmod 700 {}`", instance.state().display());
        assert!(refused.stderr.contains(&mends), "{refused:#?}");
    }
    fs::set_permissions(instance.state(), Permissions::from_mode(0o700)).unwrap();
    instance.run(&["run", "hello"]).ended(0);
}

#[test]
fn links_in_the_state_directory_are_not_followed() {
    let instance = RoostInstance::new();
    let victim = instance.work().join("victim");
    fs::write(&victim, "mine").unwrap();
    for name in ["lock", "roost.db", "daemon.log", "daemon.json", "run", "artifacts"] {
        instance.make_state();
        symlink(&victim, instance.state().join(name)).unwrap();
        let refused = instance.run(&["up"]).ended(1);
        assert!(refused.stderr.contains("is a link") && refused.stderr.contains(name), "{refused:#?}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{name}");
        fs::remove_dir_all(instance.state()).unwrap();
    }
    // The directory itself may be one.
    let real = instance.work().join("real");
    fs::create_dir(&real).unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o700)).unwrap();
    symlink(&real, instance.state()).unwrap();
    instance.run(&["run", "hello"]).ended(0);
    wait_for("the database", || real.join("roost.db").exists().then_some(()));
    instance.assert_nothing_left();
}
