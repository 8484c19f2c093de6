//! The pump with a fake runtime without a process: its messages come from a channel, and each becomes a draft.

use roost_engine::adapter::{AdapterError, Draft, Fact, TaskEnd};
use roost_model::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload};
use roost_process::Batch;
use tokio::sync::mpsc;

use super::{Connection, ExitReport, Handle, Outbox, PumpAction, Reply, Task, reply, start};

struct Fake {
    messages: mpsc::Receiver<PumpAction>,
    /// Receives a unit for every message that was read.
    read: mpsc::UnboundedSender<()>,
    out: Outbox<Task>,
}

enum FakeCommand {
    Begin(mpsc::Sender<Vec<Draft>>),
    Ping(Reply),
}

impl Connection for Fake {
    const NAME: &'static str = "the fake";
    const STDIO: bool = false;

    type Turn = Task;
    type Command = FakeCommand;
    type Message = PumpAction;

    fn outbox(&mut self) -> &mut Outbox<Task> {
        &mut self.out
    }

    fn on_command(&mut self, command: FakeCommand) -> PumpAction {
        match command {
            FakeCommand::Begin(drafts) => self.out.turn = Some(Task::without_request(drafts)),
            FakeCommand::Ping(to) => reply(to, Ok(())),
        }
        PumpAction::Continue
    }

    fn on_stdout(&mut self, _: Batch<'_>) -> PumpAction {
        unreachable!("it has no process")
    }

    fn on_stderr(&mut self, _: String) {
        unreachable!("it has no process")
    }

    async fn next_message(&mut self) -> Option<PumpAction> {
        self.messages.recv().await
    }

    async fn on_message(&mut self, then: PumpAction) -> PumpAction {
        let (level, source) = (NoticeLevel::Info, NoticeSource::Protocol);
        let notice = RuntimeNoticePayload { level, source, message: String::new() };
        self.out.drafts.push(Fact::Notice(notice).into());
        self.read.send(()).unwrap();
        then
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        if let Some((task, drafts)) = self.out.live() {
            task.end(TaskEnd::Failed(Box::new(exit.failure())), drafts);
        }
    }
}

struct PumpFixture {
    handle: Handle<Fake>,
    messages: mpsc::Sender<PumpAction>,
    read: mpsc::UnboundedReceiver<()>,
    drafts: mpsc::Receiver<Vec<Draft>>,
}

/// A pump whose session queue holds one batch, and whose runtime sends `messages`.
async fn fixture(messages: &[PumpAction]) -> PumpFixture {
    let (sender, receiver) = mpsc::channel(16);
    let (reader, read) = mpsc::unbounded_channel();
    let (to, drafts) = mpsc::channel(1);
    let (handle, _) = start(Fake { messages: receiver, read: reader, out: Outbox::default() }, None, ());
    handle.send(FakeCommand::Begin(to)).await.unwrap();
    for message in messages {
        sender.send(*message).await.unwrap();
    }
    PumpFixture { handle, messages: sender, read, drafts }
}

#[tokio::test]
async fn nothing_more_is_read_while_the_session_is_behind_and_commands_are_heard() {
    let mut fixture = fixture(&[PumpAction::Continue; 5]).await;
    // The first is in the session's queue, the second in the outbox.
    fixture.read.recv().await.unwrap();
    fixture.read.recv().await.unwrap();
    for _ in 0..100 {
        fixture.handle.ask(FakeCommand::Ping).await.unwrap();
    }
    assert!(fixture.read.try_recv().is_err(), "a third was read");
    assert_eq!(fixture.drafts.recv().await.unwrap().len(), 1);
    fixture.read.recv().await.unwrap();
}

#[tokio::test]
async fn where_nobody_listens_everything_is_still_read() {
    let PumpFixture { handle: _handle, mut read, drafts, messages: _messages } =
        fixture(&[PumpAction::Continue; 5]).await;
    drop(drafts);
    for _ in 0..5 {
        read.recv().await.unwrap();
    }
}

#[tokio::test]
async fn a_runtime_that_hangs_up_fails_its_turn_and_the_pump_ends() {
    let PumpFixture { handle, messages, mut drafts, read: _read } = fixture(&[PumpAction::Continue]).await;
    drop(messages);
    let mut delivered = Vec::new();
    while let Some(batch) = drafts.recv().await {
        delivered.extend(batch);
    }
    let [_, Draft { fact: Fact::Ended(TaskEnd::Failed(error)), .. }] = &delivered[..] else { panic!("{delivered:?}") };
    assert_eq!(error.message, "the fake hung up in the middle of the task");
    handle.exited().await;
    let gone = handle.ask(FakeCommand::Ping).await.unwrap_err();
    assert!(matches!(gone, AdapterError::Exited { message, .. } if message == "the fake is gone"));
}

#[tokio::test]
async fn a_pump_that_leaves_takes_no_command_before_the_end_is_heard() {
    let PumpFixture { handle, mut read, mut drafts, messages: _messages } =
        fixture(&[PumpAction::Continue, PumpAction::Leave]).await;
    read.recv().await.unwrap();
    read.recv().await.unwrap();
    handle.exited().await;
    assert!(handle.ask(FakeCommand::Ping).await.is_err());
    assert_eq!(drafts.recv().await.unwrap().len(), 1);
    assert_eq!(drafts.recv().await.unwrap().len(), 1);
    assert!(drafts.recv().await.is_none());
}
