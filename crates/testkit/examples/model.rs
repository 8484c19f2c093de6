//! The scripted model for people: `cargo xtask model` runs it until it is interrupted.

use std::process::ExitCode;
use std::time::Duration;

use testkit::model::ModelServer;
use testkit::model::script::SCRIPTS;

/// The time between two pieces of an answer: slow enough to be seen.
const GAP: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let port = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Some(0),
        ["--port", port] => port.parse().ok(),
        _ => None,
    };
    let Some(port) = port else {
        eprintln!("usage: cargo xtask model [--port N]");
        return ExitCode::from(2);
    };
    let server = ModelServer::start_with(port, GAP);
    println!("the scripted model listens on {}\n\nscripts, named in a prompt as SCRIPT:<name>:", server.url());
    for script in SCRIPTS {
        println!("  {:10} {}", script.name, script.about);
    }
    println!("\n{}", help(&server.url()));
    server.serve();
    ExitCode::SUCCESS
}

/// How each agent is pointed at the model, with a home of its own.
fn help(url: &str) -> String {
    format!(
        "\
try an agent on it, with a home of its own (H=$(mktemp -d)) and the commands of `cargo xtask fixtures --print-path`:

env -i PATH=\"$PATH\" HOME=$H TERM=dumb ANTHROPIC_API_KEY=dummy ANTHROPIC_BASE_URL={url} \\
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude -p 'SCRIPT:text'"
    )
}
