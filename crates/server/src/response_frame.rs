//! Fits responses into frames, whose size clients limit.

use roost_rpc::{Fault, FaultCode, Id, MAX_BATCH, Outcome, Response};

use crate::dispatch::MAX_FRAME;

/// Reserved in a batch for each answer that an error may replace, in bytes.
const REFUSAL: usize = 256;

/// The response, or an error in its place if it is too big for a frame.
pub(crate) fn bounded(response: Response) -> Response {
    match &response.outcome {
        Outcome::Result(result) if result.get().len() > MAX_FRAME => {
            Response::error(response.id, too_large(result.get().len()))
        }
        _ => response,
    }
}

fn too_large(bytes: usize) -> Fault {
    let why = format_args!("the answer has {bytes} bytes, more than fit into a frame; ask for a smaller page");
    Fault::new(FaultCode::TooLarge, why).with("max_size", MAX_FRAME)
}

/// Encodes the answers to a batch as one frame. An answer that does not fit is replaced by an error. `None` if the
/// batch held notifications only.
pub(crate) fn encode_batch(responses: impl Iterator<Item = Response>) -> Option<String> {
    let mut batch = String::from("[");
    for response in responses {
        let mut text = response.encode();
        if batch.len() + text.len() > MAX_FRAME - MAX_BATCH * REFUSAL {
            text = Response::error(response.id, too_large(text.len())).encode();
        }
        if batch.len() > 1 {
            batch.push(',');
        }
        batch.push_str(&text);
    }
    batch.push(']');
    (batch.len() > 2).then_some(batch)
}

/// The answer to a message that is not text.
pub(crate) fn not_text() -> String {
    Response::error(Id::NULL, Fault::new(FaultCode::ParseError, "messages are JSON in text frames")).encode()
}
