//! `session/client/offer`, `next` and `answer`: a client works for the agent of a session.

use std::sync::Arc;

use roost_engine::session_client::ClientOffer;
use roost_rpc::{ClientAnswerParams, ClientOfferParams, ClientRequest, Fault, FaultCode, NoParams, Success};

use crate::dispatch::Context;
use crate::session_clients::ServingConnection;

pub(crate) async fn offer(context: &Context<'_>, params: ClientOfferParams) -> Result<Success, Fault> {
    let connection = context.connected()?;
    let record = context.session(&params.session_id).await?;
    let offer = ClientOffer {
        read_files: params.read_files.unwrap_or_default(),
        write_files: params.write_files.unwrap_or_default(),
        terminals: params.terminals.unwrap_or_default(),
    };
    let clients = &context.host.clients;
    let serving = connection.serving.get_or_init(|| clients.join(context.caller.is_owner(), context.may_yolo()));
    clients.offer(serving, record.session_id, offer);
    Ok(Success { success: true })
}

pub(crate) async fn next(context: &Context<'_>, _: NoParams) -> Result<ClientRequest, Fault> {
    serving(context)?.next().await
}

pub(crate) async fn answer(context: &Context<'_>, params: ClientAnswerParams) -> Result<Success, Fault> {
    let answer = match (params.result, params.error) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => return Err(Fault::params("an answer has either a result or an error").with("field", "result")),
    };
    match serving(context)?.answer(params.request_id, answer) {
        true => Ok(Success { success: true }),
        false => Err(Fault::params("no request of this id waits for an answer").with("field", "request_id")),
    }
}

fn serving<'a>(context: &Context<'a>) -> Result<&'a Arc<ServingConnection>, Fault> {
    context.connected()?.serving.get().ok_or_else(|| {
        Fault::new(FaultCode::InvalidRequest, "this connection has offered nothing; call `session/client/offer` first")
    })
}
