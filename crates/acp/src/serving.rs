//! Works for the agents of sessions: the editor reads and writes their files and runs their terminals.
//!
//! The daemon asks one request after the other; each is passed to the editor and its answer back, side by side.

use std::pin::pin;
use std::sync::{Arc, Weak};

use agent_client_protocol_schema::v1 as acp;
use parking_lot::Mutex;
use roost_client::Client;
use roost_model::ids::ToolCallId;
use roost_rpc::{ClientAnswerParams, ClientOfferParams, ClientRequest, NoParams, SHOW_TERMINAL, method};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::door::Door;
use crate::editor::{EditorAnswer, EditorConnection};
use crate::error;
use crate::session::SessionCommand;

/// Requests that the editor works on at once; the daemon keeps the others.
const MAX_REQUESTS: usize = 32;

/// What the editor offers to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EditorOffer {
    pub(crate) read_files: bool,
    pub(crate) write_files: bool,
    pub(crate) terminals: bool,
}

impl EditorOffer {
    pub(crate) fn from_capabilities(client: &acp::ClientCapabilities) -> Self {
        Self {
            read_files: client.fs.read_text_file,
            write_files: client.fs.write_text_file,
            terminals: client.terminal,
        }
    }
}

/// The editor's work for sessions. Dropping it ends the work.
#[derive(Default)]
pub(crate) struct Serving {
    offer: Mutex<EditorOffer>,
    /// The connection whose requests are served, and the task that does it.
    current: Mutex<Option<(Arc<Client>, AbortOnDropHandle<()>)>>,
}

impl Serving {
    pub(crate) fn set_offer(&self, offer: EditorOffer) {
        *self.offer.lock() = offer;
    }

    /// Offers the editor's work for a session. A daemon that does not take the offer does the work itself.
    pub(crate) async fn offer(&self, client: &Arc<Client>, door: &Arc<Door>, session: &str) {
        let offer = *self.offer.lock();
        if offer == EditorOffer::default() {
            return;
        }
        let params = ClientOfferParams {
            session_id: session.to_owned(),
            read_files: Some(offer.read_files),
            write_files: Some(offer.write_files),
            terminals: Some(offer.terminals),
        };
        if let Err(error) = client.call::<method::ClientOffer>(params).await {
            tracing::debug!(%error, "The daemon does not want the editor's files and terminals.");
            return;
        }
        let mut current = self.current.lock();
        if current.as_ref().is_none_or(|(served, _)| !Arc::ptr_eq(served, client)) {
            let task = tokio::spawn(serve(client.clone(), door.editor().clone(), Arc::downgrade(door)));
            *current = Some((client.clone(), AbortOnDropHandle::new(task)));
        }
    }
}

/// Serves the requests of one connection until it ends.
async fn serve(client: Arc<Client>, editor: EditorConnection, door: Weak<Door>) {
    let mut work = JoinSet::new();
    loop {
        while work.len() >= MAX_REQUESTS {
            work.join_next().await;
        }
        // Kept until it is answered: a request that nobody waits for any more would be lost.
        let mut next = pin!(client.call::<method::ClientNext>(NoParams {}));
        let request = loop {
            tokio::select! {
                request = &mut next => break request,
                Some(_) = work.join_next(), if !work.is_empty() => {}
            }
        };
        match request {
            Ok(request) => drop(work.spawn(answer(client.clone(), editor.clone(), door.clone(), request))),
            Err(error) => return tracing::debug!(%error, "No more requests for the editor."),
        }
    }
}

async fn answer(client: Arc<Client>, editor: EditorConnection, door: Weak<Door>, request: ClientRequest) {
    let ClientRequest { request_id, session_id, method, params } = request;
    let answer = match method.as_str() {
        SHOW_TERMINAL => show_terminal(&door, &session_id, params).await,
        _ => editor.request(&method, params).await.answer().await,
    };
    let (result, error) = match answer {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error.message)),
    };
    let params = ClientAnswerParams { request_id, result, error };
    if let Err(error) = client.call::<method::ClientAnswer>(params).await {
        tracing::debug!(%error, method, "An answer of the editor came too late.");
    }
}

/// Shows a terminal of the editor inside a tool call: an update, which the session's actor sends in its order.
async fn show_terminal(door: &Weak<Door>, session: &str, params: Value) -> EditorAnswer {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ShownTerminal {
        tool_call_id: ToolCallId,
        terminal_id: String,
    }
    let shown: ShownTerminal =
        serde_json::from_value(params).map_err(|failed| error::invalid_params(failed.to_string()))?;
    // Only for a moment: whoever waits here must not keep the door open.
    let commands = door.upgrade().and_then(|door| door.commands(session)).ok_or_else(error::gone)?;
    let command = SessionCommand::ShowTerminal { call: shown.tool_call_id, terminal: shown.terminal_id };
    commands.send(command).await.map_err(|_| error::gone())?;
    Ok(json!({}))
}
