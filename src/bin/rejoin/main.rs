//! `rejoin`: streams a turn, plays a broken server, shows what Rejoin does about it.
//!
//! What may live here: arguments in, text out. Whatever decides anything belongs into the library.

#![forbid(unsafe_code)]

mod advise;
mod args;
mod checkpoint;
mod control;
mod demo;
mod exit;
mod pretty;
mod printer;
mod replay;
mod resume;
mod serve;
mod stream;

use args::{Args, Command};
use clap::Parser as _;
use exit::{Exit, Stop};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // `--help` and `--version` are no errors; clap knows where each is printed.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { ExitCode::SUCCESS };
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("rejoin: no runtime: {error}");
            return Exit::Failed.into();
        }
    };
    let result = runtime.block_on(run(args));
    // A blocking read of standard input must not keep the process alive.
    runtime.shutdown_background();
    result.unwrap_or_else(Exit::from).into()
}

async fn run(args: Args) -> Result<Exit, Stop> {
    match args.command {
        Command::Demo(args) => demo::run(args).await,
        Command::Stream(args) => stream::run(args).await,
        Command::Resume(args) => resume::run(args).await,
        Command::ServeFlaky(args) => Ok(serve::run(args).await?),
        Command::Advise(args) => advise::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Checkpoint => Ok(checkpoint::run()?),
    }
}
