//! Runs a part of a test in a process of its own, which can be killed.
#![allow(dead_code)] // Each test file takes what it needs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// This test binary once more, running only the test of this name with this environment.
pub fn myself(test: &str, env: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test binary"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.envs(env.iter().copied());
    command
}

/// A process that says where it stands, a line each, and waits for a line before it goes on.
pub struct Stepping {
    child: Child,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Stepping {
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the test binary runs");
        let input = child.stdin.take().expect("piped");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, lines }
    }

    /// The next step; `None` if the process ended by itself.
    pub fn step(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("UTF-8") == 0 {
                return None;
            }
            // Whatever stands before it: the test harness prints without a newline.
            if let Some(at) = line.find("STEP ") {
                return Some(line[at + 5..].trim_end().to_owned());
            }
        }
    }

    pub fn go_on(&mut self) {
        writeln!(self.input).and_then(|()| self.input.flush()).expect("it waits");
    }

    /// SIGKILL: no destructor runs, nothing is flushed.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is dead");
    }

    pub fn end(mut self) -> bool {
        drop(self.input);
        self.child.wait().expect("it ends").success()
    }
}

/// In the child: says where it stands, and waits.
pub fn stand_at(step: &str) {
    println!("STEP {step}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("the parent speaks");
}

/// A folder of its own for a test, empty.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}
