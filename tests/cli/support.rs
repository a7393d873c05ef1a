//! Runs the command, with a flaky server beside it.

use rejoin::testkit::{FlakyServer, RequestRecord, Response};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use tokio::runtime::Runtime;

pub const KEY: &str = "AIza-a-key-that-nobody-may-see";

/// A server on a runtime of its own, so that a test may block.
pub struct Server {
    runtime: Runtime,
    server: FlakyServer,
}

impl Server {
    pub fn start(responses: &str) -> Self {
        let responses: Vec<Response> = serde_json::from_str(responses).expect("responses");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let server = runtime.block_on(FlakyServer::start(responses)).expect("a server");
        Self { runtime, server }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    /// The requests, each over.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.runtime.block_on(self.server.settled(Duration::from_secs(5)));
        self.server.requests()
    }
}

/// What a run of the command came to.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The lines of standard output as events.
    pub fn events(&self) -> Vec<Value> {
        let event = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.out.lines().map(event).collect()
    }

    pub fn last_event(&self) -> Value {
        self.events().pop().expect("an event")
    }
}

/// The command with nothing of this machine's in its environment.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rejoin"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

pub fn rejoin(args: &[&str]) -> Ran {
    ran(&mut command(args))
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("the command runs");
    Ran {
        code: output.status.code().expect("an exit status"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The arguments of a turn with JSON events, and more of them.
pub fn stream<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["stream", "--base-url", url, "--model", "m", "--events", "jsonl"];
    args.extend(more);
    args
}

/// A command that still runs.
pub struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    seen: String,
}

impl Running {
    pub fn start(args: &[&str]) -> Self {
        let mut command = command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        let input = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, lines, seen: String::new() }
    }

    /// Reads up to the next event of this type, while the command runs on.
    pub fn until(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).expect("UTF-8");
            assert!(read > 0, "no {kind} in:\n{}", self.seen);
            self.seen.push_str(&line);
            let event: Value = serde_json::from_str(&line).expect("an event a line");
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Reads so many events; fewer only at the end.
    pub fn events(&mut self, count: usize) -> Vec<Value> {
        let mut events = Vec::new();
        while events.len() < count {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("UTF-8") == 0 {
                break;
            }
            events.push(serde_json::from_str(&line).expect("an event a line"));
        }
        events
    }

    /// SIGKILL: nothing is flushed, no destructor runs.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is dead");
    }

    pub fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("the command reads");
    }

    pub fn interrupt(&self) {
        self.signal("INT");
    }

    pub fn signal(&self, name: &str) {
        let (name, pid) = (format!("-{name}"), self.child.id().to_string());
        let kill = Command::new("kill").args([&name, &pid]).status().expect("kill");
        assert!(kill.success());
    }

    pub fn end(mut self) -> Ran {
        drop(self.input.take());
        self.lines.read_to_string(&mut self.seen).expect("UTF-8");
        let output = self.child.wait_with_output().expect("the command ends");
        Ran {
            code: output.status.code().expect("an exit status"),
            out: self.seen,
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// A file with this text, of a name that no other test uses.
pub fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}
