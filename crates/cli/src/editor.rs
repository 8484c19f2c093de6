//! The editor of a conversation: editing keys and several lines, and for prompts history and completion.
//!
//! `reedline` edits. Of the libraries for it, this one can be ended from outside with what was typed so far, which a
//! prompt needs when work begins elsewhere or something is asked.

mod completer;
mod history;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use reedline::{
    Color, ColumnarMenu, EditCommand, EditMode, Emacs, ExampleHighlighter, FileBackedHistory, History, HistoryItem,
    KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus,
    Reedline, ReedlineEvent, ReedlineMenu, ReedlineRawEvent, Signal, default_emacs_keybindings,
};

use crate::screen;
use crate::typed::clean;
pub(crate) use completer::{PromptCommand, PromptCompleter, mentioned_files};
pub(crate) use history::PromptHistory;

/// Shown before the cursor in a conversation.
pub(crate) const PROMPT: &str = "> ";
/// How soon the editor notices that it is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const COMPLETION_MENU: &str = "completion";
/// The name by which Ctrl-C comes out of the editor with the text still there.
const INTERRUPT: &str = "interrupt";

/// Reads prompts with an editor. Each prompt gets a new one, so that nothing of the screen is remembered.
pub(crate) struct LineEditor {
    history: PromptHistory,
    completer: PromptCompleter,
    colours: bool,
}

/// How editing ended.
pub(crate) enum Edited {
    Line(String),
    /// Ctrl-D where nothing was typed.
    End,
    /// Ctrl-C; this was typed so far.
    Interrupted(String),
    /// It was ended from outside; this was typed so far.
    Cancelled(String),
}

impl LineEditor {
    pub(crate) fn new(history: PromptHistory, completer: PromptCompleter, colours: bool) -> Self {
        Self { history, completer, colours }
    }

    /// True if the terminal can move its cursor; the editor writes to stderr and answers come from stdin.
    pub(crate) fn is_possible() -> bool {
        screen::can_show_status() && screen::stderr_is_terminal()
    }

    /// Edits a prompt that begins like this, until Enter. Blocks; setting `cancel` ends it.
    pub(crate) fn prompt(&self, draft: &str, cancel: &Arc<AtomicBool>) -> io::Result<Edited> {
        let mut history = FileBackedHistory::default();
        for command_line in self.history.load() {
            // In memory only, where nothing fails: what is kept is decided when a prompt is sent.
            let _ = history.save(HistoryItem::from_command_line(command_line));
        }
        let menu = Box::new(ColumnarMenu::default().with_name(COMPLETION_MENU).with_marker(""));
        let editor = self
            .reedline(cancel)
            .with_history(Box::new(history))
            .with_completer(Box::new(self.completer.clone()))
            .with_menu(ReedlineMenu::EngineCompleter(menu))
            .with_quick_completions(true)
            .with_partial_completions(true);
        edit(editor, PROMPT, draft)
    }

    /// Edits an answer that begins like this, behind these words. There is no history: an answer may be a secret.
    pub(crate) fn words(&self, sign: &str, draft: &str, cancel: &Arc<AtomicBool>) -> io::Result<Edited> {
        edit(self.reedline(cancel), sign, draft)
    }

    fn reedline(&self, cancel: &Arc<AtomicBool>) -> Reedline {
        let mut plain = ExampleHighlighter::default();
        plain.change_colors(Color::Default, Color::Default, Color::Default);
        Reedline::create()
            .with_edit_mode(Box::new(Keys::default()))
            .with_highlighter(Box::new(plain))
            .with_ansi_colors(self.colours)
            .use_bracketed_paste(true)
            .with_break_signal(cancel.clone())
            .with_poll_interval(POLL_INTERVAL)
    }
}

fn edit(mut editor: Reedline, sign: &str, draft: &str) -> io::Result<Edited> {
    editor.run_edit_commands(&[EditCommand::InsertString(clean(draft))]);
    match editor.read_line(&PromptSign(sign.into()))? {
        Signal::Success(line) => Ok(Edited::Line(clean(&line))),
        Signal::ExternalBreak(text) => {
            if text.is_empty() {
                screen::clear_line();
            } else {
                screen::end_line();
            }
            Ok(Edited::Cancelled(text))
        }
        Signal::HostCommand(_) => {
            screen::end_line();
            Ok(Edited::Interrupted(editor.current_buffer_contents().to_owned()))
        }
        _ => Ok(Edited::End),
    }
}

/// The usual keys of a shell, without anything that would put control characters into the text.
struct Keys(Emacs);

impl Default for Keys {
    fn default() -> Self {
        let mut keys = default_emacs_keybindings();
        let complete =
            ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(COMPLETION_MENU.into()), ReedlineEvent::MenuNext]);
        let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), newline);
        let interrupt = ReedlineEvent::ExecuteHostCommand(INTERRUPT.into());
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('c'), interrupt);
        Self(Emacs::new(keys))
    }
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        match self.0.parse_event(event) {
            ReedlineEvent::Edit(commands) => ReedlineEvent::Edit(commands.into_iter().map(harmless).collect()),
            event => event,
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.0.edit_mode()
    }
}

/// The same edit, with escape sequences taken out of what was pasted: the editor would show them to the terminal.
fn harmless(command: EditCommand) -> EditCommand {
    match command {
        EditCommand::InsertString(text) => EditCommand::InsertString(clean(&text)),
        command => command,
    }
}

/// What stands before the text.
struct PromptSign(String);

impl Prompt for PromptSign {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        self.0.as_str().into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "  ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let failing = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "nothing found for ",
        };
        format!("(history search, {failing}'{}') ", search.term).into()
    }

    fn get_prompt_color(&self) -> Color {
        Color::Default
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::Default
    }

    fn get_indicator_color(&self) -> Color {
        Color::Default
    }
}
