//! Finds the session that somebody means.

use std::path::Path;

use roost_log::Log;
use roost_proto::ids::SessionId;
use roost_proto::session::SessionRecord;

use crate::error::Error;

/// Shown at least of an id.
const SHORTEST: usize = 8;

/// The session of this id, of this native id, or whose id begins like this.
pub(crate) async fn session(log: &dyn Log, id: &str) -> Result<SessionRecord, Error> {
    if let Some(found) = log.session(id).await? {
        return Ok(found);
    }
    let begins = |record: &SessionRecord| !id.is_empty() && record.session_id.as_str().starts_with(id);
    let mut found: Vec<_> = log.sessions(usize::MAX).await?.into_iter().filter(begins).collect();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Error::UnknownSession(id.into())),
        (Some(last), false) => {
            found.push(last);
            let found = found.iter().map(|record| record.session_id.to_string()).collect();
            Err(Error::AmbiguousSession { id: id.into(), found })
        }
    }
}

/// The session of this directory that changed last.
pub(crate) async fn latest(log: &dyn Log, cwd: &Path) -> Result<SessionRecord, Error> {
    let sessions = log.sessions(usize::MAX).await?;
    let found = sessions.into_iter().find(|record| Path::new(&record.cwd) == cwd);
    found.ok_or_else(|| Error::NothingToContinue(cwd.into()))
}

/// How much of each id is enough to tell all of them apart.
pub(crate) fn unique_length<'a>(ids: impl Iterator<Item = &'a SessionId>) -> usize {
    let mut ids: Vec<_> = ids.map(SessionId::as_str).collect();
    ids.sort_unstable();
    let shared = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| shared(pair) + 1).max().unwrap_or(0).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_as_short_as_they_stay_different() {
        let table: [(&[&str], usize); 4] = [
            (&[], 8),
            (&["0123456789"], 8),
            (&["0123456789", "1123456789"], 8),
            (&["0123456789ab", "x", "0123456789xy"], 11),
        ];
        for (ids, length) in table {
            let ids: Vec<_> = ids.iter().map(|id| SessionId::from(*id)).collect();
            assert_eq!(unique_length(ids.iter()), length, "{ids:?}");
        }
    }
}
