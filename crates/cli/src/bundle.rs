//! A support bundle: everything that is known of a session, without its secrets, for somebody who was not there.

mod artifacts;
mod split;
mod tools;

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use roost_log::Batch;
use roost_model::event::EventBody;
use roost_policy::{redact, redact_json};
use serde::Serialize;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::render::{Renderer, Show, TextForm};
use crate::style::Style;
pub(crate) use artifacts::{BundledArtifacts, References};
pub(crate) use split::Split;
use tools::ToolTranscripts;

const README: &str = "\
A support bundle of Roost: one session, from its first stored event to its last.

transcript.md           what was said and done, to read
events.jsonl            every event, one line of JSON each
tool-transcripts.json   each tool call: what was asked, decided, run and answered
artifacts/              what was too big for an event; manifest.json says what is missing and why
manifest.json           what this is about and how much of it there is
health.json             the state of the session, the log and the agent when this was made
capabilities.json       what the agent can do
versions.json           of Roost, its formats, the agent and the machine
runtime-env.json        where the agent ran; never its environment variables
mcp-transports.json     how tool servers can be reached
runtime-config.json     the files that the agent read by itself, for each input to the model

Whatever looks like a secret was replaced by [redacted]. Secrets that look like ordinary words cannot be recognised:
have a look before you pass this on.
";

/// A bundle that is being made.
pub(crate) struct Bundle {
    split: Split,
    events: BufWriter<File>,
    transcript: Vec<u8>,
    renderer: Renderer,
    tools: ToolTranscripts,
    configs: Vec<Value>,
    references: References,
    count: u64,
}

impl Bundle {
    /// A bundle of events whose pieces were looked at before.
    pub(crate) fn new(split: Split) -> io::Result<Self> {
        let text = TextForm::Source;
        let show = Show { prompts: true, all: false, asks: true, full: false, quiet: false, unfold: None, text };
        Ok(Self {
            split,
            events: BufWriter::new(tempfile::tempfile()?),
            transcript: Vec::new(),
            renderer: Renderer::new(Style::PLAIN, show),
            tools: ToolTranscripts::default(),
            configs: Vec::new(),
            references: References::default(),
            count: 0,
        })
    }

    /// The number of events in the bundle so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The artifacts that its events refer to.
    pub(crate) fn references(&self) -> &References {
        &self.references
    }

    /// Adds events, up to this one.
    pub(crate) fn add(&mut self, batch: &Batch, last: u64) -> io::Result<()> {
        for entry in batch.iter().take_while(|entry| entry.seq() <= last) {
            let mut value: Value = serde_json::from_str(entry.json())?;
            self.references.collect(&value);
            self.split.replace(&mut value);
            let value = redact_json(&value);
            writeln!(self.events, "{value}")?;
            self.count += 1;
            // Everything below is made of what is redacted, so that nothing else can get there.
            let Ok(event) = serde_json::from_value(value) else { continue };
            self.renderer.event(&mut self.transcript, &event)?;
            if let EventBody::ModelInput(input) = &event.body {
                self.configs.push(json!({ "seq": event.seq, "time": event.time, "model_input": input }));
            }
            self.tools.add(&event);
        }
        Ok(())
    }

    /// Writes the bundle, whole or not at all, and never over another file. All of it unpacks into one folder.
    pub(crate) fn write(
        mut self,
        path: &Path,
        unpacks_into: String,
        manifest: Value,
        facts: Facts,
        artifacts: &BundledArtifacts,
    ) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = NamedTempFile::new_in(folder)?;
        let archive = tar::Builder::new(GzEncoder::new(BufWriter::new(file), Compression::default()));
        let mut tar = Tar { archive, folder: unpacks_into };
        tar.text("README.txt", README)?;
        tar.json("manifest.json", &manifest)?;
        tar.json("health.json", &facts.health)?;
        tar.json("capabilities.json", &facts.capabilities)?;
        tar.json("versions.json", &facts.versions)?;
        tar.json("runtime-env.json", &facts.runtime_env)?;
        tar.json("mcp-transports.json", &facts.mcp_transports)?;
        tar.json("runtime-config.json", &self.configs)?;
        tar.json("tool-transcripts.json", &self.tools.transcripts())?;
        tar.text("transcript.md", &transcript(&manifest, &self.transcript))?;
        self.events.flush()?;
        let mut events = self.events.into_inner().map_err(io::IntoInnerError::into_error)?;
        events.rewind()?;
        tar.file("events.jsonl", &mut events)?;
        artifacts.write(&mut tar)?;
        let file = tar.archive.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The documents of a bundle that do not come from events.
pub(crate) struct Facts {
    pub(crate) health: Value,
    pub(crate) capabilities: Value,
    pub(crate) versions: Value,
    pub(crate) runtime_env: Value,
    pub(crate) mcp_transports: Value,
}

/// The conversation as `roost log` shows it, in a fence that nothing in it can close.
fn transcript(manifest: &Value, shown: &[u8]) -> String {
    let shown = String::from_utf8_lossy(shown);
    let longest = shown.split(|at| at != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text = |name: &str| manifest[name].as_str().unwrap_or_default().to_owned();
    format!(
        "# Session {}\n\n{} in `{}`, from {} to {}.\n\n\
         `>` is what the user said, `→` a tool that the agent wanted to use, `│` what the tool printed, `✓`, `✗` and `■`\n\
         how a tool or a task ended. Everything else is the agent's answer.\n\n{fence}text\n{}\n{fence}\n",
        text("session_id"),
        text("runtime"),
        text("cwd"),
        text("created_at"),
        text("updated_at"),
        redact(shown.trim_end()),
    )
}

/// An archive to which only redacted things go.
pub(crate) struct Tar<W: Write> {
    archive: tar::Builder<W>,
    /// The folder that everything is in.
    folder: String,
}

impl<W: Write> Tar<W> {
    fn json(&mut self, name: &str, value: &impl Serialize) -> io::Result<()> {
        let value = redact_json(&serde_json::to_value(value)?);
        let text = serde_json::to_string_pretty(&value)? + "\n";
        self.bytes(name, text.as_bytes())
    }

    fn text(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.bytes(name, redact(text).as_bytes())
    }

    /// A file whose lines were redacted as they were written.
    fn file(&mut self, name: &str, file: &mut File) -> io::Result<()> {
        let mut header = header();
        header.set_size(file.metadata()?.len());
        self.archive.append_data(&mut header, format!("{}/{name}", self.folder), file)
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut header = header();
        header.set_size(bytes.len() as u64);
        self.archive.append_data(&mut header, format!("{}/{name}", self.folder), bytes)
    }
}

fn header() -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o600);
    header
}
