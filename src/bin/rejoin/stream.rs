//! `rejoin stream`: one turn, its events printed as they come.

use crate::args::{Events, StreamArgs};
use crate::control::{Control, Controls};
use crate::exit::Exit;
use rejoin::client::{Client, TurnHandle, TurnRequest};
use rejoin::turn::{ErrorKind, Event, EventKind, Policy};
use std::io::{Read as _, Write};
use std::path::Path;

/// Events taken over at once: any number does, since reading consumes nothing.
const BATCH: usize = 256;

pub async fn run(args: StreamArgs) -> Result<Exit, String> {
    let client = client(&args)?;
    let mut request = request(&args)?;
    if let Some(id) = &args.turn_id {
        request = request.turn_id(id);
    }
    let turn = client.start(request).map_err(|error| error.to_string())?;
    let mut printer = printer(args.events);
    let mut controls = Controls::new(args.control);
    // One listener for the whole turn: a new one each time would miss a signal in between.
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
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
        };
        cursor = batch.next_cursor;
        for event in &batch.events {
            // A reader that is gone wants no more: the turn must not go on unseen and be paid.
            printer.print(event).map_err(|error| format!("cannot print: {error}"))?;
        }
        if batch.finished {
            return exit(batch.events.last());
        }
    }
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

fn client(args: &StreamArgs) -> Result<Client, String> {
    let mut policy = match &args.policy {
        Some(file) => Policy::from_json(&read(file)?).map_err(|error| error.to_string())?,
        None => Policy::default(),
    };
    for (name, value) in &args.set {
        policy.set(name, value).map_err(|error| error.to_string())?;
    }
    let mut builder = Client::builder().base_url(&args.base_url).policy(policy);
    if let Ok(key) = std::env::var(&args.api_key_env) {
        builder = builder.api_key(key);
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

fn read(file: &Path) -> Result<String, String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        return match std::io::stdin().read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(error) => Err(format!("standard input cannot be read as UTF-8: {error}")),
        };
    }
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Prints events in one of the ways.
trait Printer {
    fn print(&mut self, event: &Event) -> std::io::Result<()>;
}

fn printer(events: Events) -> Box<dyn Printer> {
    match events {
        Events::Jsonl => Box::new(Jsonl),
        Events::Pretty => Box::new(Jsonl),
    }
}

struct Jsonl;

impl Printer for Jsonl {
    fn print(&mut self, event: &Event) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, event)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}
