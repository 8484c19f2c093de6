//! The three pipes of a runtime.

use roost_process::{Line, MAX_LINE, Running, STDERR_TAIL};
use tokio::sync::mpsc;

use crate::support::{TestHost, all_lines, eventually, next_lines, probe, quick};

#[tokio::test]
async fn lines_go_in_and_come_out() {
    let place = TestHost::new(quick());
    let (_, Running { mut stdin, mut stdout, .. }) = place.spawn(probe(), &["echo"]).await;
    stdin.write_all(b"hello\n").await.unwrap();
    assert_eq!(next_lines(&mut stdout).await.unwrap(), ["hello"]);
    stdin.close();
    assert_eq!(next_lines(&mut stdout).await, None);
}

#[tokio::test]
async fn writing_to_a_runtime_that_has_left_is_an_error() {
    let place = TestHost::new(quick());
    let (_, Running { mut stdin, control, .. }) = place.spawn(probe(), &["exit-now", "0"]).await;
    control.gone().await;
    let error = stdin.write_all(b"hello\n").await.unwrap_err();
    assert!(matches!(error, roost_process::Error::StdinClosed(_)), "{error:?}");
}

#[tokio::test]
async fn crlf_invalid_utf8_empty_lines_and_a_last_line_without_end_are_read() {
    let place = TestHost::new(quick());
    let (_, mut running) = place.spawn("sh", &["-c", r"printf 'a\r\n\nb\377c\nlast'"]).await;
    assert_eq!(all_lines(&mut running.stdout).await, ["a", "", "b\u{fffd}c", "last"]);
}

async fn around_a_line_of(bytes: usize) -> Vec<Result<usize, u64>> {
    let place = TestHost::new(quick());
    let (_, mut running) = place.spawn(probe(), &["long-line", &bytes.to_string()]).await;
    let mut seen = Vec::new();
    while let Some(batch) = running.stdout.next_batch().await.unwrap() {
        seen.extend(batch.map(|line| match line {
            Line::Bytes(bytes) => Ok(bytes.len()),
            Line::TooLong { bytes, .. } => Err(bytes),
        }));
    }
    seen
}

#[tokio::test]
async fn a_line_of_64_mib_passes() {
    assert_eq!(around_a_line_of(MAX_LINE).await, [Ok(6), Ok(MAX_LINE), Ok(5)]);
}

#[tokio::test]
async fn a_longer_line_is_reported_and_skipped() {
    assert_eq!(around_a_line_of(MAX_LINE + 1).await, [Ok(6), Err(MAX_LINE as u64 + 1), Ok(5)]);
}

#[tokio::test]
async fn a_much_longer_line_is_reported_and_skipped() {
    assert_eq!(around_a_line_of(2 * MAX_LINE).await, [Ok(6), Err(2 * MAX_LINE as u64), Ok(5)]);
}

#[tokio::test]
async fn a_slow_reader_blocks_the_writer_and_loses_nothing() {
    const LINES: usize = 20_000;
    let place = TestHost::new(quick());
    let (sender, mut stderr) = mpsc::channel(8);
    let mut launch = place.launch(probe(), &["flood-lines", &LINES.to_string(), "300"]);
    launch.stderr_lines = Some(sender);
    let mut running = place.holder.spawn(launch).await.unwrap();
    let pid = running.control.pid();
    // Asleep in a write to a full pipe: as far as it gets while nobody reads.
    let blocked =
        move || std::fs::read_to_string(format!("/proc/{pid}/wchan")).is_ok_and(|at| at.contains("pipe_write"));
    tokio::task::spawn_blocking(move || eventually("the writer is blocked", blocked)).await.unwrap();
    assert!(stderr.try_recv().is_err(), "the writer has finished without a reader");
    let mut count = 0;
    while let Some(batch) = running.stdout.next_batch().await.unwrap() {
        count += batch.count();
    }
    assert_eq!(count, LINES);
    assert_eq!(stderr.recv().await.as_deref(), Some("flooded"));
}

#[tokio::test]
async fn the_tail_of_stderr_is_kept() {
    let place = TestHost::new(quick());
    let script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done >&2; printf 'last \\377 words' >&2";
    let (_, running) = place.spawn("sh", &["-c", script]).await;
    running.control.gone().await;
    let tail = running.stderr.text();
    assert!(tail.ends_with("line 19999\nlast \u{fffd} words"), "{}", &tail[tail.len() - 60..]);
    // The invalid byte became a character of three.
    assert_eq!(tail.len(), STDERR_TAIL + 2);
}

#[tokio::test]
async fn stderr_lines_are_handed_on_as_they_come() {
    let place = TestHost::new(quick());
    let (sender, mut lines) = mpsc::channel(8);
    let mut launch = place.launch("sh", &["-c", "printf 'one\\r\\ntwo\\nthree' >&2"]);
    launch.stderr_lines = Some(sender);
    let _running = place.holder.spawn(launch).await.unwrap();
    let mut seen = Vec::new();
    while let Some(line) = lines.recv().await {
        seen.push(line);
    }
    assert_eq!(seen, ["one", "two", "three"]);
}
