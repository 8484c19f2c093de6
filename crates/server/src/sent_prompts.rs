//! The prompts that clients sent with a key: one that comes again, because its client got no answer, starts nothing
//! twice.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use roost_rpc::Fault;
use roost_rpc::SessionSendResult;
use tokio::sync::OnceCell;

/// Prompts that are remembered, the latest ones: far more than are on their way at any time.
const KEPT: usize = 512;

/// The result of a prompt, once there is one.
type Sent = Arc<OnceCell<SessionSendResult>>;

/// The latest prompts with a key, by who sent them and by that key.
#[derive(Default)]
pub(crate) struct SentPrompts(Mutex<VecDeque<((String, String), Sent)>>);

impl SentPrompts {
    /// Sends a prompt, unless this account has sent one with this key: then it is the result of that one. What failed
    /// can be sent again.
    pub(crate) async fn once(
        &self,
        account: &str,
        key: &str,
        send: impl Future<Output = Result<SessionSendResult, Fault>>,
    ) -> Result<SessionSendResult, Fault> {
        let sent = self.entry(account, key);
        sent.get_or_try_init(|| send).await.cloned()
    }

    fn entry(&self, account: &str, key: &str) -> Sent {
        let mut kept = self.0.lock();
        let name = (account.to_owned(), key.to_owned());
        if let Some((_, sent)) = kept.iter().find(|(known, _)| *known == name) {
            return sent.clone();
        }
        let sent = Sent::default();
        kept.push_back((name, sent.clone()));
        if kept.len() > KEPT {
            kept.pop_front();
        }
        sent
    }
}
