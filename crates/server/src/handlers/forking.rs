//! `session/fork`, and the lineage of forked sessions.

use roost_engine::Fork;
use roost_model::mode::Mode;
use roost_model::session::SessionRecord;
use roost_rpc::{Fault, SessionForkParams, SessionStartResult};

use super::routing::{self, SessionSelector};
use super::session::{attach_result, check_title};
use crate::dispatch::Context;
use crate::fault;

pub(crate) async fn fork(context: &Context<'_>, params: SessionForkParams) -> Result<SessionStartResult, Fault> {
    let (workspace, cwd) = (params.workspace_id.as_deref(), params.cwd.as_deref());
    let named = SessionSelector { id: &params.session_id, workspace, cwd, agent_type: params.agent_type.as_deref() };
    let mode = routing::mode(params.permission_mode, params.yolo_mode);
    check_title(params.title.as_ref())?;
    let source = routing::find_or_adopt(context, named, None).await?;
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
        ..attach_result(context, record, "forked").await?
    })
}

/// A part of a forked session's history: the events of one session up to where the next was forked.
pub(super) struct LineageSegment {
    /// The session whose events the segment holds.
    pub(super) record: SessionRecord,
    /// The `seq` of the last event that belongs to the lineage.
    pub(super) until: u64,
}

/// The segments of a session's history, the oldest ancestor first and the session itself last.
pub(super) async fn lineage(context: &Context<'_>, record: SessionRecord) -> Result<Vec<LineageSegment>, Fault> {
    let mut forked = record.forked.clone();
    let mut segments = vec![LineageSegment { record, until: u64::MAX }];
    while let Some(from) = forked {
        let record = context.host.sessions.get(from.session_id.as_str()).await?;
        forked = record.forked.clone();
        segments.push(LineageSegment { record, until: from.seq });
    }
    segments.reverse();
    Ok(segments)
}
