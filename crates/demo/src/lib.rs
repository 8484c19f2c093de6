//! A deterministic ACP agent (protocol v1) that needs no account, no network and no model.
//!
//! The first word of a prompt selects what it does (`keyword`); without one it gives a tour.
//! The official SDK reads the requests and writes the replies. Session updates go to stdout
//! through our own `output` queue, because the SDK's queue is unbounded, cannot be flushed
//! before a deliberate crash, and is too slow to flood a host.

mod acts;
mod keyword;
mod output;
mod prompt;
mod session;
mod tool;
mod turn;

use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AvailableCommandsUpdate, CancelNotification, CloseSessionRequest, CloseSessionResponse,
    Implementation, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse, PromptCapabilities,
    PromptRequest, SessionCapabilities, SessionCloseCapabilities, SessionNotification, SessionUpdate,
};
use agent_client_protocol::{Agent, Client, Error, Lines, on_receive_notification, on_receive_request};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};

use output::Output;
use session::Sessions;
use turn::DemoTurn;

/// Runs the agent on stdin and stdout in a runtime of its own; the body of `roost demo-agent`.
pub fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("the demo agent could not start its runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let ended = runtime.block_on(run());
    // A thread may still be blocked on reading stdin; it must not hold up the exit.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the demo agent lost its client: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves stdin and stdout until stdin ends.
pub async fn run() -> Result<(), Error> {
    serve(tokio::io::stdin(), tokio::io::stdout()).await
}

/// Serves one client over any pair of byte streams until `reader` ends.
pub async fn serve<R, W>(reader: R, writer: W) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin,
{
    let (output, writing) = output::open(writer);
    let stubborn = Arc::new(AtomicBool::new(false));
    let demo = Demo {
        sessions: Sessions::default(),
        output: output.clone(),
        client_has_forms: AtomicBool::new(false),
        stubborn: stubborn.clone(),
    };
    let writing = async { writing.await.map_err(Error::into_internal_error) };
    let ended = futures::try_join!(answer(demo, reader, output), writing);
    if stubborn.load(Ordering::Relaxed) {
        pending::<()>().await;
    }
    ended.map(|_| ())
}

/// What all handlers of one connection share.
struct Demo {
    sessions: Sessions,
    output: Output,
    client_has_forms: AtomicBool,
    /// Set by the `stubborn` keyword: from then on nothing but SIGKILL ends the agent.
    stubborn: Arc<AtomicBool>,
}

async fn answer<R>(demo: Demo, reader: R, output: Output) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    let demo = Arc::new(demo);
    let lines = futures::stream::try_unfold(BufReader::new(reader).lines(), async |mut lines| {
        Ok(lines.next_line().await?.map(|line| (line, lines)))
    });
    let builder = Agent
        .v1()
        .name("roost-demo")
        .on_receive_request(
            {
                let demo = demo.clone();
                async move |request: InitializeRequest, responder, _: ConnectionTo<Client>| {
                    responder.respond(demo.initialize(&request))
                }
            },
            on_receive_request!(),
        )
        .on_receive_request(
            {
                let demo = demo.clone();
                async move |request: NewSessionRequest, responder, client: ConnectionTo<Client>| {
                    let session = match demo.sessions.open(request.cwd) {
                        Ok(session) => session,
                        Err(error) => return responder.respond_with_error(error),
                    };
                    responder.respond(NewSessionResponse::new(session.id.clone()))?;
                    let commands = AvailableCommandsUpdate::new(keyword::commands());
                    client.send_notification(SessionNotification::new(
                        session.id.clone(),
                        SessionUpdate::AvailableCommandsUpdate(commands),
                    ))
                }
            },
            on_receive_request!(),
        )
        .on_receive_request(
            {
                let demo = demo.clone();
                async move |request: PromptRequest, responder, client: ConnectionTo<Client>| match DemoTurn::begin(
                    &demo,
                    &request,
                    client.clone(),
                ) {
                    Ok(turn) => client.spawn(async move {
                        let end = turn.run(responder.cancellation()).await;
                        responder.respond_with_result(end)
                    }),
                    Err(error) => responder.respond_with_error(error),
                }
            },
            on_receive_request!(),
        )
        .on_receive_request(
            {
                let demo = demo.clone();
                async move |request: CloseSessionRequest, responder, _: ConnectionTo<Client>| {
                    let closed = demo.sessions.close(&request.session_id);
                    responder.respond_with_result(closed.map(|()| CloseSessionResponse::new()))
                }
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _: ConnectionTo<Client>| {
                demo.sessions.get(&cancel.session_id)?.cancel();
                Ok(())
            },
            on_receive_notification!(),
        );
    builder.connect_to(Lines::new(output.into_sink(), lines)).await
}

impl Demo {
    fn initialize(&self, request: &InitializeRequest) -> InitializeResponse {
        let elicitation = &request.client_capabilities.elicitation;
        let forms = elicitation.as_ref().is_some_and(|it| it.supports_form());
        self.client_has_forms.store(forms, Ordering::Relaxed);
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(
                AgentCapabilities::new()
                    .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
                    .session_capabilities(SessionCapabilities::new().close(SessionCloseCapabilities::new())),
            )
            .agent_info(
                Implementation::new("roost-demo", env!("CARGO_PKG_VERSION")).title("Roost demo agent".to_owned()),
            )
    }
}
