//! Whether a project can make Gemini run something by bringing files for it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::agents::Agent;

use crate::kit::{RoostInstance, of_type};
use crate::real;

fn write(path: &Path, settings: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
}

fn say(instance: &RoostInstance) -> Vec<Value> {
    instance.run(&["run", "--json", "--runtime", "gemini", "SCRIPT:text"]).ended(0).events(1)
}

#[test]
fn what_a_project_brings_runs_only_where_the_folder_is_trusted() {
    let instance = real::instance(Agent::Gemini, "gemini", &[]);
    // The sandbox of the tests trusts every folder.
    let config = instance.home().join(".config/roost/roost.toml");
    let text = fs::read_to_string(&config).unwrap().replace("GEMINI_CLI_TRUST_WORKSPACE = \"true\"\n", "");
    fs::write(&config, text).unwrap();
    let hook = json!([{ "hooks": [{ "type": "command", "command": "touch hooked" }] }]);
    let server = json!({ "command": "touch", "args": ["served"] });
    let settings = json!({ "hooks": { "BeforeAgent": hook }, "mcpServers": { "evil": server } });
    write(&instance.work().join(".gemini/settings.json"), &settings);
    let exists = |name: &str| instance.work().join(name).exists();
    let events = say(&instance);
    assert_eq!((exists("hooked"), exists("served")), (false, false), "{events:#?}");
    let says_so = |event: &&Value| event["payload"]["message"].as_str().unwrap().contains("(hooks, mcpServers)");
    assert_eq!(of_type(&events, "runtime.notice").into_iter().filter(says_so).count(), 1, "{events:#?}");

    let trusted = json!({ instance.work().display().to_string(): "TRUST_FOLDER" });
    write(&instance.home().join(".gemini/trustedFolders.json"), &trusted);
    let events = say(&instance);
    assert_eq!((exists("hooked"), exists("served")), (true, true), "{events:#?}");
}
