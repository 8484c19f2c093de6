//! `roost notify`, the program that Codex calls when a turn is over: it writes its one argument as a line.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::process::ExitCode;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::settings::SinkKind;

/// Runs the forwarder with these arguments. It reads the `ACPLB_*` variables from its own environment, because it is
/// the `main` of a program that Codex starts, not a part of the daemon.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let kind = variable("ACPLB_NOTIFY_KIND").map(|kind| kind.to_string_lossy().into_owned());
    let done = forward(args.collect(), variable("ACPLB_NOTIFY_PATH").as_deref().map(Path::new), kind.as_deref());
    match done {
        Ok(line) => {
            if variable("ACPLB_DEBUG").is_some() {
                // stderr may be closed, which is no reason to fail.
                let _ = writeln!(io::stderr(), "roost notify: passed on {} bytes", line.len());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "roost notify: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the argument to `path` and returns the line.
fn forward(args: Vec<OsString>, path: Option<&Path>, kind: Option<&str>) -> Result<Vec<u8>, String> {
    let [argument] = &args[..] else {
        return Err(format!("takes exactly one argument, the JSON that Codex gives; there are {}", args.len()));
    };
    let path = path.ok_or("ACPLB_NOTIFY_PATH is not set; it names the file or FIFO to write to")?;
    // JSON strings contain no raw line ends, so every line end is whitespace.
    let mut line = argument.as_encoded_bytes().to_vec();
    line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    line.push(b'\n');
    let written = match SinkKind::from_name(kind)? {
        SinkKind::File => OpenOptions::new().create(true).append(true).mode(0o644).open(path),
        SinkKind::Fifo => fifo(path),
    };
    // One write, so that lines of several turns do not mix.
    written
        .and_then(|mut file| file.write_all(&line))
        .map_err(|error| format!("cannot write to {}: {error}", path.display()))?;
    Ok(line)
}

/// Opens a FIFO for writing without waiting for a reader: Codex would be left with a process that hangs. Fails if
/// nobody reads.
fn fifo(path: &Path) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.file_type().is_fifo() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a FIFO"));
    }
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(Into::into).collect()
    }

    #[test]
    fn lines_are_added_to_a_file_that_is_made() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("notify.jsonl");
        forward(words(&["{\"a\":\n1}"]), Some(&path), None).unwrap();
        forward(words(&["{}"]), Some(&path), Some("file")).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "{\"a\": 1}\n{}\n");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let dir = TempDir::new().unwrap();
        let (file, missing) = (dir.path().join("file"), dir.path().join("missing"));
        std::fs::write(&file, "").unwrap();
        let table = [
            (forward(words(&[]), Some(&file), None), "exactly one argument"),
            (forward(words(&["{}", "{}"]), Some(&file), None), "exactly one argument"),
            (forward(words(&["{}"]), None, None), "ACPLB_NOTIFY_PATH"),
            (forward(words(&["{}"]), Some(&file), Some("socket")), "ACPLB_NOTIFY_KIND"),
            (forward(words(&["{}"]), Some(&file), Some("fifo")), "not a FIFO"),
            (forward(words(&["{}"]), Some(&missing), Some("fifo")), "cannot write to"),
        ];
        for (done, expected) in table {
            let error = done.unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(!missing.exists(), "a FIFO is never made");
    }
}
