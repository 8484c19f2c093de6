//! Acts as the holder, as a host that can be killed, and as misbehaving runtimes in this crate's tests.

use std::{
    ffi::OsString,
    io::{self, BufRead, Write},
    os::unix::net::UnixStream,
    process::{Command, ExitCode, Stdio},
    thread,
    time::Duration,
};

use roost_process::{Environment, Holder, Ladder, Launch, Line, RunId, Running};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    signal::unix::{SignalKind, signal},
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let mode = args.next().unwrap_or_default();
    if mode == "hold" {
        return roost_process::hold::main(args);
    }
    let args: Vec<OsString> = args.collect();
    let number = |at: usize| args.get(at).and_then(|arg| arg.to_str()?.parse::<usize>().ok()).unwrap_or(0);
    let outcome = match mode.to_str().unwrap_or_default() {
        "host" => host(&args),
        "echo" => echo(),
        "exit-now" => return ExitCode::from(number(0) as u8),
        "flood-lines" => flood_lines(number(0), number(1)),
        "long-line" => long_line(number(0)),
        "ignore-term" => ignore_term(),
        "stubborn-tree" => stubborn_tree(),
        "orphan" => orphan(number(0)),
        "own-session" => own_session(),
        "connect" => connect(&args),
        "connect-as-orphan" => connect_as_orphan(&args),
        "sleep" => {
            thread::sleep(Duration::from_secs(600));
            Ok(())
        }
        other => Err(format!("unknown mode `{other}`").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("process-probe: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

fn myself(mode: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(mode).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

fn echo() -> Outcome {
    for line in io::stdin().lock().lines() {
        say(&line?)?;
    }
    Ok(())
}

fn flood_lines(count: usize, size: usize) -> Outcome {
    let mut line = vec![b'x'; size];
    line.push(b'\n');
    let mut stdout = io::BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    for _ in 0..count {
        stdout.write_all(&line)?;
    }
    stdout.flush()?;
    eprintln!("flooded");
    Ok(())
}

fn long_line(size: usize) -> Outcome {
    let mut stdout = io::stdout().lock();
    stdout.write_all(b"before\n")?;
    let chunk = vec![b'x'; 1024 * 1024];
    for at in (0..size).step_by(chunk.len()) {
        stdout.write_all(&chunk[..chunk.len().min(size - at)])?;
    }
    stdout.write_all(b"\nafter\n")?;
    Ok(stdout.flush()?)
}

/// Neither end of file nor SIGTERM ends it.
fn ignore_term() -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terms = signal(SignalKind::terminate())?;
        say("ready")?;
        while terms.recv().await.is_some() {
            say("SIGTERM ignored")?;
        }
        Ok(())
    })
}

/// Stubborn itself, with a stubborn child and a stubborn orphan in its own session.
fn stubborn_tree() -> Outcome {
    myself("ignore-term")?.spawn()?;
    myself("orphan")?.arg("0").status()?;
    ignore_term()
}

/// Leaves a grandchild in its own session; then stays for so many seconds.
fn orphan(stay: usize) -> Outcome {
    myself("own-session")?.spawn()?;
    say("ready")?;
    thread::sleep(Duration::from_secs(stay as u64));
    Ok(())
}

fn own_session() -> Outcome {
    rustix::process::setsid()?;
    ignore_term()
}

/// `connect SOCKET [stay]`: connects, and stays connected for ever if told so.
fn connect(args: &[OsString]) -> Outcome {
    let _socket = UnixStream::connect(args.first().ok_or("connect needs a socket")?)?;
    while args.len() > 1 {
        thread::park();
    }
    Ok(())
}

/// The same in a process that has lost its parent and its environment.
fn connect_as_orphan(args: &[OsString]) -> Outcome {
    let orphan = "env -i setsid \"$0\" connect \"$1\" stay &";
    Command::new("sh").arg("-c").arg(orphan).arg(std::env::current_exe()?).args(args).status()?;
    thread::sleep(Duration::from_secs(600));
    Ok(())
}

/// `host RECORDS PROGRAM ARGS…`: hosts a runtime, says `run ID`, forwards lines both ways, survives SIGINT.
fn host(args: &[OsString]) -> Outcome {
    let [records, program, args @ ..] = args else {
        return Err("host needs a records directory and a program".into());
    };
    let run = RunId::fresh();
    let holder = Holder {
        program: std::env::current_exe()?,
        args: vec!["hold".into()],
        records: records.into(),
        ladder: Ladder {
            grace: Duration::from_millis(100),
            term: Duration::from_millis(100),
            leftover: Duration::from_millis(50),
        },
        wall: None,
    };
    let launch = Launch {
        run: run.clone(),
        label: "probe".into(),
        program: program.clone(),
        args: args.to_vec(),
        cwd: "/".into(),
        env: Environment::allowed_from(std::env::vars_os()),
        stderr_lines: None,
    };
    tokio::runtime::Runtime::new()?.block_on(async {
        let mut interrupts = signal(SignalKind::interrupt())?;
        let Running { mut stdin, mut stdout, control, .. } = holder.spawn(launch).await?;
        say(&format!("run {run}"))?;
        let mut commands = BufReader::new(tokio::io::stdin()).lines();
        loop {
            tokio::select! {
                Some(()) = interrupts.recv() => say("host interrupted")?,
                Ok(Some(line)) = commands.next_line() => stdin.write_all(format!("{line}\n").as_bytes()).await?,
                batch = stdout.next_batch() => match batch? {
                    Some(batch) => {
                        for line in batch.map(Line::text) {
                            say(&line)?;
                        }
                    }
                    None => break,
                },
            }
        }
        say(&format!("runtime ended: {}", control.gone().await))?;
        Ok(())
    })
}
