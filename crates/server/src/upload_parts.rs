//! Uploads that come in parts, because they are bigger than one request may be, and that go on after a connection broke.
//! They are kept until they are complete or nothing more came for [`IDLE`]; the end of the daemon ends them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use roost_workspace::files::Upload;
use tokio::sync::OwnedMutexGuard;

/// Uploads in parts that may be open at once, of all devices together.
const OPEN: usize = 16;
/// How long the next part may take to come.
const IDLE: Duration = Duration::from_mins(15);

/// The open uploads, by id.
#[derive(Default)]
pub(crate) struct UploadParts(Mutex<HashMap<String, OpenUpload>>);

/// An upload of which the last part has not come.
struct OpenUpload {
    owner: UploadOwner,
    /// It outlives the request that writes to it; one request at a time holds it. Absent once it is complete.
    upload: Arc<tokio::sync::Mutex<Option<Upload>>>,
    touched: Instant,
}

/// Whose an upload is, and what for: nobody else and nothing else goes on with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UploadOwner {
    pub(crate) account: String,
    pub(crate) route: &'static str,
    pub(crate) workspace: String,
}

/// Why a part is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartRefusal {
    /// No upload of this id is open here.
    Unknown,
    /// Another part of it is coming at this moment.
    Busy,
    /// Too many uploads are open.
    TooMany,
}

impl UploadParts {
    /// Keeps an upload that has begun.
    pub(crate) fn open(&self, id: &str, owner: UploadOwner, upload: Upload) -> Result<(), PartRefusal> {
        let mut open = self.0.lock();
        open.retain(|_, upload| upload.touched.elapsed() < IDLE);
        if open.len() >= OPEN {
            return Err(PartRefusal::TooMany);
        }
        let upload = Arc::new(tokio::sync::Mutex::new(Some(upload)));
        open.insert(id.to_owned(), OpenUpload { owner, upload, touched: Instant::now() });
        Ok(())
    }

    /// The upload of this id, for its next part.
    pub(crate) fn next(&self, id: &str, owner: &UploadOwner) -> Result<OwnedMutexGuard<Option<Upload>>, PartRefusal> {
        let mut open = self.0.lock();
        let found = open.get_mut(id).filter(|open| open.owner == *owner).ok_or(PartRefusal::Unknown)?;
        found.touched = Instant::now();
        found.upload.clone().try_lock_owned().map_err(|_| PartRefusal::Busy)
    }

    /// Forgets an upload that is complete or has failed.
    pub(crate) fn close(&self, id: &str) {
        self.0.lock().remove(id);
    }

    /// Forgets those of which nothing came for too long.
    pub(crate) fn sweep(&self) {
        self.0.lock().retain(|_, upload| upload.touched.elapsed() < IDLE);
    }
}
