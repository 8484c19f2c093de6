//! `roost acp setup`: what an editor has to be told so that it offers Roost as an agent.

use std::io;
use std::path::PathBuf;

use roost_settings::{SettingsChange, Written};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::exit::Exit;
use crate::paths;
use crate::screen;
use crate::stderr::print_stderr;

const EXAMPLES: &str = "\
Examples:
  roost acp setup zed                               print what belongs into Zed's settings
  roost acp setup zed --write                       add it to them; the file as it was is kept beside
  roost acp setup jetbrains --runtime claude --write  an agent of its own for Claude Code";

/// Print what an editor needs to offer Roost as an agent, or write it into its settings
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[arg(help = "The editor")]
    editor: Editor,
    /// The agent of the sessions, as `roost runtimes` lists it [default: default_runtime in roost.toml]
    #[arg(long, value_name = "ID")]
    runtime: Option<String>,
    /// Add it to the editor's settings; everything else in them stays as it is
    #[arg(long)]
    write: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Editor {
    /// Zed, the editor of Zed Industries
    Zed,
    /// IntelliJ IDEA, PyCharm, WebStorm and the other IDEs of JetBrains, with AI Assistant
    Jetbrains,
    /// Neovim, with CodeCompanion.nvim or avante.nvim
    Neovim,
}

/// The member of the settings of Zed and JetBrains that has the agents, by name.
const AGENTS: &str = "agent_servers";

const NOT_UTF8: &str = "its path is not UTF-8, which no editor's settings can say; move it";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let program = std::env::current_exe().map_err(Error::Start)?;
    let program = program.to_str().ok_or_else(|| Error::Start(io::Error::other(NOT_UTF8)))?;
    let entry = AgentEntry::new(program, args.runtime.as_deref());
    let settings = entry.settings(args.editor);
    let Some(file) = settings_path(args.editor)? else {
        screen::print(&settings)?;
        if args.write {
            return Err(Error::EditorSettings {
                file: "Neovim's configuration".into(),
                why: "it is a program, and no other program can add to it safely".into(),
            });
        }
        print_stderr("Add one of these to your Neovim configuration.");
        return Ok(Exit::Completed);
    };
    if !args.write {
        screen::print(&settings)?;
        print_stderr(format_args!("Add this to {}, or let --write do it.", file.display()));
        return Ok(Exit::Completed);
    }
    let told = match SettingsChange::plan(&file, |text| entry.merged(args.editor, text)).and_then(SettingsChange::write)
    {
        Ok(Written::Unchanged) => format!("{} has it already.", file.display()),
        Ok(Written::Created) => format!("Wrote {}. {}", file.display(), args.editor.next_step(&entry.name)),
        Ok(Written::Changed { backup }) => format!(
            "Added \"{}\" to {}. The file as it was is {}. {}",
            entry.name,
            file.display(),
            backup.display(),
            args.editor.next_step(&entry.name)
        ),
        Err(why) => {
            screen::print(&settings)?;
            return Err(Error::EditorSettings { file: file.display().to_string(), why });
        }
    };
    screen::print(&told)?;
    Ok(Exit::Completed)
}

/// The settings file that can be merged; `None` for Neovim, whose configuration is a program.
fn settings_path(editor: Editor) -> Result<Option<PathBuf>, Error> {
    Ok(match editor {
        Editor::Zed => Some(paths::config_home()?.join("zed/settings.json")),
        Editor::Jetbrains => Some(std::env::home_dir().ok_or(Error::NoHome)?.join(".jetbrains/acp.json")),
        Editor::Neovim => None,
    })
}

impl Editor {
    /// What to do in the editor, once its settings have the agent.
    fn next_step(self, name: &str) -> String {
        match self {
            Self::Zed => format!("In Zed, open the agent panel and start a new thread with \"{name}\"."),
            Self::Jetbrains => format!("In the IDE, open AI Chat and choose \"{name}\" in the list of agents."),
            Self::Neovim => String::new(),
        }
    }
}

/// The agent that the editor shall offer.
struct AgentEntry {
    /// As the editor shows it. Another runtime is another agent, so that several can be set up.
    name: String,
    program: String,
    args: Vec<String>,
}

impl AgentEntry {
    fn new(program: &str, runtime: Option<&str>) -> Self {
        let args = ["acp"].into_iter().chain(runtime.into_iter().flat_map(|id| ["--runtime", id]));
        Self {
            name: runtime.map_or_else(|| "Roost".into(), |id| format!("Roost ({id})")),
            program: program.to_owned(),
            args: args.map(Into::into).collect(),
        }
    }

    /// What the editor is told, in its own format, for people who add it themselves.
    fn settings(&self, editor: Editor) -> String {
        match editor {
            Editor::Zed | Editor::Jetbrains => {
                let settings = json!({ AGENTS: { &self.name: self.members(editor) } });
                format!("{settings:#}")
            }
            Editor::Neovim => self.lua(),
        }
    }

    /// The members of the agent in the settings of Zed and JetBrains.
    fn members(&self, editor: Editor) -> Map<String, Value> {
        let kind = matches!(editor, Editor::Zed).then(|| ("type".to_owned(), json!("custom")));
        let command = [("command".to_owned(), json!(self.program)), ("args".to_owned(), json!(self.args))];
        kind.into_iter().chain(command).collect()
    }

    /// A settings file with the agent in it; `text` is the file as it is.
    fn merged(&self, editor: Editor, text: &str) -> Result<String, String> {
        roost_settings::json::merge(text, &[AGENTS, &self.name], &self.members(editor))
    }

    /// The tables for the two plugins of Neovim that speak ACP.
    fn lua(&self) -> String {
        let (program, name) = (lua_string(&self.program), lua_string(&self.name));
        let args: Vec<_> = self.args.iter().map(|word| lua_string(word)).collect();
        let args = args.join(", ");
        format!(
            r#"-- CodeCompanion.nvim
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      roost = function()
        return require("codecompanion.adapters").extend("opencode", {{
          name = "roost",
          formatted_name = {name},
          commands = {{ default = {{ {program}, {args} }} }},
        }})
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = "roost" }} }},
}})

-- avante.nvim
require("avante").setup({{
  provider = "roost",
  acp_providers = {{
    roost = {{ command = {program}, args = {{ {args} }} }},
  }},
}})"#
        )
    }
}

/// A string literal of Lua: control characters as decimal escapes, which JSON does not have.
fn lua_string(text: &str) -> String {
    let escape = |character: char| match character {
        '"' | '\\' => format!("\\{character}"),
        _ if character.is_ascii_control() => format!("\\{:03}", u32::from(character)),
        _ => character.into(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_editor_is_told_in_its_own_format() {
        let entry = AgentEntry::new("/opt/roost/bin/roost", None);
        insta::assert_snapshot!("zed", entry.settings(Editor::Zed));
        insta::assert_snapshot!("jetbrains", entry.settings(Editor::Jetbrains));
        let entry = AgentEntry::new("/opt/\"odd\"\\roost", Some("claude"));
        insta::assert_snapshot!("neovim", entry.settings(Editor::Neovim));
    }

    #[test]
    fn what_is_printed_is_what_a_new_file_gets() {
        for editor in [Editor::Zed, Editor::Jetbrains] {
            let entry = AgentEntry::new("/bin/roost", Some("claude"));
            let written: Value = serde_json::from_str(&entry.merged(editor, "").unwrap()).unwrap();
            assert_eq!(written, serde_json::from_str::<Value>(&entry.settings(editor)).unwrap());
        }
    }

    #[test]
    fn another_runtime_is_another_agent() {
        let first = AgentEntry::new("/bin/roost", None).merged(Editor::Zed, "").unwrap();
        let both = AgentEntry::new("/bin/roost", Some("codex")).merged(Editor::Zed, &first).unwrap();
        let both: Value = serde_json::from_str(&both).unwrap();
        assert_eq!(both[AGENTS]["Roost"]["args"], json!(["acp"]));
        assert_eq!(both[AGENTS]["Roost (codex)"]["args"], json!(["acp", "--runtime", "codex"]));
    }

    #[test]
    fn a_lua_string_says_every_character() {
        let table = [("plain", r#""plain""#), ("a\"b", r#""a\"b""#), ("a\\b", r#""a\\b""#), ("a\nb", r#""a\010b""#)];
        for (text, literal) in table {
            assert_eq!(lua_string(text), literal);
        }
    }
}
