//! Runs work on many items in several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The number of threads for work on many files: one for each core, at most 8.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Splits `0..count` into pieces of `size`, runs the work on all of them, and returns the results in order.
pub(crate) fn in_pieces<T: Send>(count: usize, size: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let pieces = count.div_ceil(size);
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return done;
            }
            done.push((piece, work(piece * size..count.min((piece + 1) * size))));
        }
    };
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..threads().min(pieces)).map(|_| scope.spawn(run)).collect();
        let mut all = run();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(piece, _)| *piece);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_and_in_order() {
        for (count, size) in [(0, 3), (1, 3), (3, 3), (1000, 7)] {
            let all: Vec<_> = in_pieces(count, size, |range| range).into_iter().flatten().collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }
}
