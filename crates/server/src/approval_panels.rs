//! How the approvals of each session are shown: as a terminal's panel or not, and which option of the panel is selected.
//! All viewers of a session share it. Nothing of it outlives the daemon.

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use roost_model::approval::{Pending, PendingAsk};
use roost_model::ids::SessionId;

/// Sessions that are remembered; the least recently used one is forgotten first and is as at the beginning.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// One approval or question as a client was shown it. An answer to another attempt is an answer to something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownRequest {
    pub(crate) id: String,
    /// 0 for a question, which is asked once.
    pub(crate) attempt: u32,
}

impl ShownRequest {
    pub(crate) fn from_pending(pending: &Pending) -> Self {
        let attempt = match &pending.ask {
            PendingAsk::Approval(asked) => asked.identity.attempt,
            PendingAsk::Question(_) => 0,
        };
        Self { id: pending.id().to_owned(), attempt }
    }
}

/// The panels of all sessions.
pub(crate) struct ApprovalPanels(Mutex<LruCache<SessionId, Panel>>);

struct Panel {
    /// Whether approvals are shown as a panel; not in a session that `agent/run` prompted without asking for one.
    is_interactive: bool,
    /// The position of the selected option, and what it is an option of.
    selected: Option<(ShownRequest, usize)>,
}

impl Default for Panel {
    fn default() -> Self {
        Self { is_interactive: true, selected: None }
    }
}

impl Default for ApprovalPanels {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(SESSIONS)))
    }
}

impl ApprovalPanels {
    /// Whether approvals of this session are shown as a panel.
    pub(crate) fn is_interactive(&self, session: &SessionId) -> bool {
        self.0.lock().get(session).is_none_or(|panel| panel.is_interactive)
    }

    pub(crate) fn set_interactive(&self, session: &SessionId, is_interactive: bool) {
        self.0.lock().get_or_insert_mut(session.clone(), Panel::default).is_interactive = is_interactive;
    }

    /// The position of the option that is selected for this request; the first until somebody selects another.
    pub(crate) fn selected(&self, pending: &Pending) -> usize {
        let mut panels = self.0.lock();
        let selected = panels.get(&pending.session_id).and_then(|panel| panel.selected.as_ref());
        let is_same = |(request, _): &&(ShownRequest, usize)| *request == ShownRequest::from_pending(pending);
        selected.filter(is_same).map_or(0, |(_, place)| *place)
    }

    pub(crate) fn select(&self, pending: &Pending, place: usize) {
        let selected = Some((ShownRequest::from_pending(pending), place));
        self.0.lock().get_or_insert_mut(pending.session_id.clone(), Panel::default).selected = selected;
    }
}
