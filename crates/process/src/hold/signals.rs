//! The signals of a holder: an ended child wakes it, SIGTERM stops it, SIGINT and SIGHUP do nothing.
#![allow(unsafe_code)]

use std::{
    io::{self, Read},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::Signal;
use signal_hook_registry::register;

pub(crate) struct Signals {
    wake: UnixStream,
    terminated: Arc<AtomicBool>,
}

impl Signals {
    pub(crate) fn install() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let waker = Arc::new(waker);
        let terminated = Arc::new(AtomicBool::new(false));

        let (flag, term_waker) = (terminated.clone(), waker.clone());
        // SAFETY: the actions only store to an atomic and write to a non-blocking socket, which is
        // allowed in a signal handler.
        unsafe {
            register(Signal::TERM.as_raw(), move || {
                flag.store(true, Ordering::Relaxed);
                let _ = rustix::io::write(&*term_waker, b"t");
            })?;
            register(Signal::CHILD.as_raw(), move || {
                let _ = rustix::io::write(&*waker, b"c");
            })?;
            // Handlers that do nothing instead of ignoring, because an ignored signal would stay
            // ignored in the runtime and in every tool it starts.
            register(Signal::INT.as_raw(), || {})?;
            register(Signal::HUP.as_raw(), || {})?;
        }
        Ok(Self { wake, terminated })
    }

    pub(crate) fn terminated(&self) -> bool {
        self.terminated.load(Ordering::Relaxed)
    }

    /// Discards the wake-ups so far. Must be called before the state that they are about is checked.
    pub(crate) fn clear(&mut self) {
        while self.wake.read(&mut [0; 256]).is_ok_and(|read| read > 0) {}
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
