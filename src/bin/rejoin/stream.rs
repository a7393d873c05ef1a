//! `rejoin stream`: one turn, its events printed as they come.

use crate::args::{ServerArgs, StreamArgs, ViewArgs};
use crate::control::{Control, Controls};
use crate::exit::{Exit, Stop};
use crate::printer::printer;
use rejoin::client::{Client, ClientBuilder, Journal, JournalConfig, TurnHandle, TurnRequest};
use rejoin::recorder::Keep;
use rejoin::turn::{DropRecord, ErrorKind, Event, EventKind, Policy};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

/// Events taken over at once: any number does, since reading consumes nothing.
const BATCH: usize = 256;

pub async fn run(args: StreamArgs) -> Result<Exit, Stop> {
    let inputs = [args.request.as_deref(), args.policy.as_deref()];
    only_one_reads_standard_input(args.view.control, &inputs)?;
    let mut builder = builder(&args.server)?.policy(policy(&args)?);
    if let Some(folder) = &args.journal {
        builder = builder.journal(open_journal(folder, !args.journal_without_text)?);
    }
    let client = builder.build().map_err(|error| error.to_string())?;
    let mut request = request(
        &args.model,
        args.request.as_deref(),
        args.prompt.as_deref(),
        args.system.as_deref(),
    )?;
    if args.record.is_some() {
        request = request.record(if args.record_text { Keep::Text } else { Keep::Shape });
    }
    if let Some(id) = &args.turn_id {
        request = request.turn_id(id);
    }
    let record = args.record.as_deref();
    follow(&args.view, record, || client.start(request).map_err(|error| error.to_string())).await
}

/// Prints a turn's events to its end.
pub async fn follow(
    view: &ViewArgs,
    record: Option<&Path>,
    start: impl FnOnce() -> Result<TurnHandle, String>,
) -> Result<Exit, Stop> {
    // One listener for the whole turn: a new one each time would miss a signal in between. Looked
    // at before the turn starts, for only then it is set up and an interrupt no longer kills.
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    tokio::select! {
        biased;
        _ = &mut interrupt => return Ok(Exit::Cancelled),
        () = std::future::ready(()) => {}
    }
    let turn = start()?;
    let mut printer = printer(view.events);
    let mut controls = Controls::new(view.control);
    let mut interrupted = false;
    let mut told_of_journal = false;
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
        if let Some(error) = turn.journal_error().filter(|_| !told_of_journal) {
            told_of_journal = true;
            eprintln!("rejoin: the journal: {error}; the turn goes on, and may not be resumed");
        }
        if batch.finished {
            if let (Some(file), Some(recording)) = (record, turn.recording()) {
                std::fs::write(file, recording.as_bytes())
                    .map_err(|error| format!("{}: {error}", file.display()))?;
            }
            if let Some(file) = &view.drop_log {
                append(file, &turn.drop_log())?;
            }
            return Ok(exit(batch.events.last())?);
        }
    }
}

/// The journal of a folder; says so where an unreadable one was put out of the way.
pub fn open_journal(folder: &Path, keep_text: bool) -> Result<Journal, String> {
    let config = JournalConfig::new(folder).keep_text(keep_text);
    let journal = Journal::open(config).map_err(|error| format!("the journal: {error}"))?;
    if let Some(aside) = journal.set_aside() {
        let aside = aside.display();
        eprintln!("rejoin: the journal could not be read: it is now {aside}, and a new one begins");
    }
    Ok(journal)
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

pub fn only_one_reads_standard_input(control: bool, files: &[Option<&Path>]) -> Result<(), String> {
    let from_stdin = files.iter().filter(|file| **file == Some(Path::new("-"))).count();
    if from_stdin + usize::from(control) > 1 {
        return Err("only one of --control, --request - and --policy - can read standard input: \
                    pass the others as files"
            .to_owned());
    }
    Ok(())
}

fn policy(args: &StreamArgs) -> Result<Policy, String> {
    let mut policy = match &args.policy {
        Some(file) => Policy::from_json(&read(file)?).map_err(|error| error.to_string())?,
        None => Policy::default(),
    };
    for (name, value) in &args.set {
        policy.set(name, value).map_err(|error| error.to_string())?;
    }
    Ok(policy)
}

pub fn builder(server: &ServerArgs) -> Result<ClientBuilder, String> {
    let mut builder = Client::builder().base_url(&server.base_url);
    if server.allow_plain_http {
        builder = builder.allow_plain_http();
    }
    match std::env::var(&server.api_key_env) {
        Ok(key) if !key.is_empty() => builder = builder.api_key(key),
        Err(std::env::VarError::NotUnicode(_)) => {
            return Err(format!("the variable {} does not hold a key", server.api_key_env));
        }
        Ok(_) | Err(std::env::VarError::NotPresent) => {}
    }
    for (name, value) in &server.headers {
        builder = builder.header(name, value);
    }
    Ok(builder)
}

pub fn request(
    model: &str,
    file: Option<&Path>,
    prompt: Option<&str>,
    system: Option<&str>,
) -> Result<TurnRequest, String> {
    Ok(match (file, prompt.unwrap_or(""), system) {
        (Some(file), ..) => TurnRequest::raw(model, read(file)?),
        (None, prompt, Some(system)) => TurnRequest::prompt_with_system(model, prompt, system),
        (None, prompt, None) => TurnRequest::prompt(model, prompt),
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
