//! `rejoin stream`: one turn, its events printed as they come.

use crate::args::StreamArgs;
use crate::control::{Control, Controls};
use crate::exit::{Exit, Stop};
use crate::printer::printer;
use rejoin::client::{Client, TurnHandle, TurnRequest};
use rejoin::recorder::Keep;
use rejoin::turn::{DropRecord, ErrorKind, Event, EventKind, Policy};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

/// Events taken over at once: any number does, since reading consumes nothing.
const BATCH: usize = 256;

pub async fn run(args: StreamArgs) -> Result<Exit, Stop> {
    only_one_reads_standard_input(&args)?;
    let client = client(&args)?;
    let mut request = request(&args)?;
    if args.record.is_some() {
        request = request.record(if args.record_text { Keep::Text } else { Keep::Shape });
    }
    if let Some(id) = &args.turn_id {
        request = request.turn_id(id);
    }
    // One listener for the whole turn: a new one each time would miss a signal in between. Looked
    // at before the turn starts, for only then it is set up and an interrupt no longer kills.
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    tokio::select! {
        biased;
        _ = &mut interrupt => return Ok(Exit::Cancelled),
        () = std::future::ready(()) => {}
    }
    let turn = client.start(request).map_err(|error| error.to_string())?;
    let mut printer = printer(args.events);
    let mut controls = Controls::new(args.control);
    let mut interrupted = false;
    let mut cursor = 0;
    loop {
        let batch = tokio::select! {
            batch = turn.events_after(cursor, BATCH) => batch,
            control = controls.next() => {
                apply(&turn, control);
                continue;
            }
            _ = &mut interrupt, if !interrupted => {
                interrupted = true;
                turn.cancel();
                continue;
            }
            () = after(printer.tick_every()) => {
                printer.tick()?;
                continue;
            }
        };
        cursor = batch.next_cursor;
        for event in &batch.events {
            // A reader that is gone wants no more: the turn must not go on unseen and be paid.
            printer.print(event)?;
        }
        if batch.finished {
            if let (Some(file), Some(recording)) = (&args.record, turn.recording()) {
                std::fs::write(file, recording.as_bytes())
                    .map_err(|error| format!("{}: {error}", file.display()))?;
            }
            if let Some(file) = &args.drop_log {
                append(file, &turn.drop_log())?;
            }
            return Ok(exit(batch.events.last())?);
        }
    }
}

/// Waits so long; for ever where there is nothing to wait for.
pub async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

fn append(file: &Path, drops: &[DropRecord]) -> Result<(), String> {
    let lines: String = drops.iter().map(|drop| drop.to_line() + "\n").collect();
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        // In one piece: several turns may append to one file.
        .and_then(|mut open| open.write_all(lines.as_bytes()))
        .map_err(|error| format!("the drops cannot be written to {}: {error}", file.display()))
}

fn exit(last: Option<&Event>) -> Result<Exit, String> {
    match last.map(|event| &event.kind) {
        Some(EventKind::Completed(_)) => Ok(Exit::Completed),
        Some(EventKind::Failed(failed)) => match failed.error.kind {
            ErrorKind::Cancelled => Ok(Exit::Cancelled),
            ErrorKind::InvalidArgument => {
                Err(failed.error.details.clone().unwrap_or_else(|| failed.error.to_string()))
            }
            _ => Ok(Exit::Failed),
        },
        _ => Ok(Exit::Failed),
    }
}

fn apply(turn: &TurnHandle, control: Control) {
    match control {
        Control::Signal(signal) => turn.signal(signal),
        Control::Cancel => turn.cancel(),
    }
}

fn only_one_reads_standard_input(args: &StreamArgs) -> Result<(), String> {
    let is_stdin = |file: &Option<std::path::PathBuf>| file.as_deref() == Some(Path::new("-"));
    let readers = [args.control, is_stdin(&args.request), is_stdin(&args.policy)];
    if readers.into_iter().filter(|reads| *reads).count() > 1 {
        return Err("only one of --control, --request - and --policy - can read standard input: \
                    pass the others as files"
            .to_owned());
    }
    Ok(())
}

fn client(args: &StreamArgs) -> Result<Client, String> {
    let mut policy = match &args.policy {
        Some(file) => Policy::from_json(&read(file)?).map_err(|error| error.to_string())?,
        None => Policy::default(),
    };
    for (name, value) in &args.set {
        policy.set(name, value).map_err(|error| error.to_string())?;
    }
    let mut builder = Client::builder().base_url(&args.base_url).policy(policy);
    if args.allow_plain_http {
        builder = builder.allow_plain_http();
    }
    match std::env::var(&args.api_key_env) {
        Ok(key) if !key.is_empty() => builder = builder.api_key(key),
        Err(std::env::VarError::NotUnicode(_)) => {
            return Err(format!("the variable {} does not hold a key", args.api_key_env));
        }
        Ok(_) | Err(std::env::VarError::NotPresent) => {}
    }
    for (name, value) in &args.headers {
        builder = builder.header(name, value);
    }
    builder.build().map_err(|error| error.to_string())
}

fn request(args: &StreamArgs) -> Result<TurnRequest, String> {
    Ok(match (&args.request, &args.prompt, &args.system) {
        (Some(file), ..) => TurnRequest::raw(&args.model, read(file)?),
        (None, Some(prompt), Some(system)) => {
            TurnRequest::prompt_with_system(&args.model, prompt, system)
        }
        (None, prompt, _) => TurnRequest::prompt(&args.model, prompt.as_deref().unwrap_or("")),
    })
}

pub fn read(file: &Path) -> Result<String, String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        return match std::io::stdin().read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(error) => Err(format!("standard input cannot be read as UTF-8: {error}")),
        };
    }
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}
