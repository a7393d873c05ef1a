//! `rejoin replay`: a recorded turn once more, and whether it went as it did.

use crate::args::ReplayArgs;
use crate::exit::{Exit, Stop};
use crate::printer::printer;
use crate::stream::read;
use rejoin::recorder::{Recording, replay};

pub fn run(args: &ReplayArgs) -> Result<Exit, Stop> {
    let recording = Recording::parse(&read(&args.file)?)
        .map_err(|error| format!("{}: {error}", args.file.display()))?;
    let replay = replay(&recording);
    let mut printer = printer(args.events);
    for event in &replay.events {
        printer.print(event)?;
    }
    let (now, then) = (replay.events.len(), recording.events.len());
    let Some(no) = replay.differs_at else {
        eprintln!("rejoin: replayed to the same {now} events");
        return Ok(Exit::Completed);
    };
    eprintln!("rejoin: event {no} is not the recorded one ({now} events now, {then} then)");
    let written = recording.header.rejoin.as_str();
    if written != env!("CARGO_PKG_VERSION") {
        eprintln!("rejoin: recorded by version {written}: its rules may have been others");
    } else if recording.header.redacted {
        eprintln!("rejoin: words were replaced: a rule may have read one of them");
    }
    Ok(Exit::Failed)
}
