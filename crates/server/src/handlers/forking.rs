//! Sessions that go on from others.

use roost_engine::Fork;
use roost_model::mode::Mode;
use roost_model::session::SessionRecord;
use roost_rpc::{Fault, SessionForkParams, SessionStartResult};

use super::routing::{self, Named};
use super::session::{attached, check_title};
use crate::dispatch::Context;
use crate::fault;

pub(crate) async fn fork(context: &Context<'_>, params: SessionForkParams) -> Result<SessionStartResult, Fault> {
    let (workspace, cwd) = (params.workspace_id.as_deref(), params.cwd.as_deref());
    let named = Named { id: &params.session_id, workspace, cwd, agent_type: params.agent_type.as_deref() };
    let mode = routing::mode(params.permission_mode, params.yolo_mode);
    check_title(params.title.as_ref())?;
    let source = routing::hosted(context, named, None).await?;
    // Said now, so that no change of the source's mode until then is inherited.
    let mode = Some(mode.unwrap_or(source.mode));
    if mode == Some(Mode::Yolo) && !context.may_yolo() {
        return Err(fault::engine(roost_engine::Error::Yolo(source.session_id)));
    }
    let fork = Fork { title: params.title, mode };
    let id = context.host.sessions.engine.fork(source.session_id.as_str(), fork).await.map_err(fault::engine)?;
    let record = context.host.sessions.get(id.as_str()).await?;
    Ok(SessionStartResult {
        status: "starting".into(),
        source: "managed".into(),
        message: "Session forked".into(),
        ..attached(context, record, "forked").await?
    })
}

/// A session's own part of what was said, or that of one that it comes from.
pub(super) struct Part {
    /// Whose part it is.
    pub(super) record: SessionRecord,
    /// The last event of it.
    pub(super) until: u64,
}

/// All that a session comes from, the oldest first, and itself.
pub(super) async fn lineage(context: &Context<'_>, record: SessionRecord) -> Result<Vec<Part>, Fault> {
    let mut forked = record.forked.clone();
    let mut parts = vec![Part { record, until: u64::MAX }];
    while let Some(from) = forked {
        let record = context.host.sessions.get(from.session_id.as_str()).await?;
        forked = record.forked.clone();
        parts.push(Part { record, until: from.seq });
    }
    parts.reverse();
    Ok(parts)
}
