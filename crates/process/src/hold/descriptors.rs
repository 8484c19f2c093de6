//! The open descriptors a holder starts with (its three pipes, the control socket, and strays), and what a command that
//! starts a daemon was given.
#![allow(unsafe_code)]

use std::{
    fs, io,
    os::{
        fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd},
        unix::net::UnixStream,
    },
};

use rustix::io::{FdFlags, close, fcntl_getfd, fcntl_setfd};

const LISTING: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };

/// Takes over the control socket and closes every other descriptor beyond stderr, so that neither the
/// holder nor the runtime keeps open what the daemon itself inherited from whoever started it.
///
/// To be called before this process opens anything.
pub(crate) fn keep_only(control: RawFd) -> io::Result<UnixStream> {
    if control <= 2 {
        let message = format!("descriptor {control} cannot be the control socket");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    // SAFETY: only borrowed for the call that finds out whether it is open, and keeps the runtime
    // from inheriting it.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(control) }, FdFlags::CLOEXEC)?;
    for stray in beyond_stderr().into_iter().filter(|fd| *fd != control) {
        // SAFETY: nothing in this process has opened a descriptor yet, so nobody owns this one, and
        // it is only closed if it is open; that of the listing is not any more.
        unsafe {
            if fcntl_getfd(BorrowedFd::borrow_raw(stray)).is_ok() {
                close(stray);
            }
        }
    }
    // SAFETY: it is open (checked above), and the daemon handed it over for nobody else to use.
    Ok(UnixStream::from(unsafe { OwnedFd::from_raw_fd(control) }))
}

/// Keeps every descriptor beyond stderr from the processes that this one starts from now on: those that it inherited from
/// whoever started it, as all others are kept from them anyway.
pub fn pass_on_no_descriptors() {
    for inherited in beyond_stderr() {
        // SAFETY: only borrowed for the call. If it was closed in between, the call fails; if its number was given to another
        // one, that one is not passed on either, which nothing here counts on.
        let _ = fcntl_setfd(unsafe { BorrowedFd::borrow_raw(inherited) }, FdFlags::CLOEXEC);
    }
}

/// The descriptors that are open now. Collected before anything is done with them, as the listing uses one itself.
fn beyond_stderr() -> Vec<RawFd> {
    let listed = fs::read_dir(LISTING).into_iter().flatten().flatten();
    listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|fd| *fd > 2).collect()
}
