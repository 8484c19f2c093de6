//! The wait for a service to start, with what is being done meanwhile: a large module is compiled for half a minute.

use std::pin::pin;
use std::time::Duration;

use roost_rpc::ServiceResult;

use crate::error::Error;
use crate::screen::{self, one_line};

/// How often the daemon is asked how far a start has come.
const LOOK: Duration = Duration::from_millis(300);

/// Waits for a call that starts a service, and shows at a terminal how far it has come; `look` asks how it is.
pub(crate) async fn watched<L>(
    starting: impl Future<Output = Result<ServiceResult, Error>>,
    look: impl Fn() -> L,
) -> Result<ServiceResult, Error>
where
    L: Future<Output = Result<ServiceResult, Error>>,
{
    let mut starting = pin!(starting);
    loop {
        tokio::select! {
            biased;
            started = &mut starting => {
                screen::replace_line("");
                return started;
            }
            () = tokio::time::sleep(LOOK) => {}
        }
        // Whatever keeps us from looking is told by the start itself.
        if let Ok(ServiceResult { service, .. }) = look().await {
            let done = service.runtime.progress.unwrap_or_default();
            let line = format!("starting {} … {done}", service.manifest.metadata.module);
            screen::replace_line(one_line(&line));
        }
    }
}
