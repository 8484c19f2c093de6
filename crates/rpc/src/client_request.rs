//! What a client does for the agent of a session: it reads and writes files, and runs terminals.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The request to show a terminal that the client runs inside a tool call; its parameters are `toolCallId` and
/// `terminalId`. It is Roost's own: to the Agent Client Protocol this is an update.
pub const SHOW_TERMINAL: &str = "_roost/show_terminal";

params! {
    /// Parameters of `session/client/offer`. The offer holds until the connection ends or another one replaces it.
    #[derive(Default)]
    ClientOfferParams {
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        ;
        /// Whether the client reads text files of the session's folder, with what is not saved yet.
        read_files: bool,
        /// Whether the client writes text files of the session's folder.
        write_files: bool,
        /// Whether the client runs commands; only clients on this machine are asked to.
        terminals: bool,
    }
}

params! {
    /// Parameters of `session/client/answer`: a result, or an error in words.
    ClientAnswerParams {
        /// Id of the request, from `session/client/next`.
        request_id: u64,
        ;
        /// What was asked for, as the Agent Client Protocol has it.
        result: Value,
        /// Why it could not be done; Roost then does it by itself where it can.
        error: String,
    }
}

wire! {
    /// A request of a session's agent to a client, in the form of the Agent Client Protocol.
    ClientRequest {
        /// Id of the request, for `session/client/answer`.
        request_id: u64,
        /// Id of the session whose agent asks.
        session_id: String,
        /// The method of the Agent Client Protocol, such as `fs/read_text_file`; or `_roost/show_terminal`, which asks
        /// to show the terminal `terminalId` inside the tool call `toolCallId`.
        method: String,
        /// The parameters of that method, with the id of the session as the client knows it.
        params: Value,
    }
}
