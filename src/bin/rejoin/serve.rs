//! `rejoin serve-flaky`: the flaky server by itself.

use crate::args::ServeArgs;
use crate::exit::Exit;
use rejoin::testkit::{FlakyServer, Script, Throttle, serve};
use std::path::Path;

pub async fn run(args: ServeArgs) -> Result<Exit, String> {
    let mut server = FlakyServer::builder().listen(args.listen);
    if let Some(file) = &args.script {
        let script = Script::from_file(file).map_err(|error| error.to_string())?;
        server = server.responses(&script);
    }
    let mut stories = Vec::new();
    for folder in &args.stories {
        stories.append(&mut scripts_in(folder)?);
    }
    server = server.stories(stories);
    if let Some(name) = &args.network {
        let throttle = Throttle::named(name).ok_or_else(|| {
            let known: Vec<_> = Throttle::ALL.iter().map(|throttle| throttle.name).collect();
            format!("no network is named {name:?}; there are {}", known.join(", "))
        })?;
        server = server.throttle(throttle);
    }
    let mut out = std::io::stdout();
    tokio::select! {
        ended = serve(server, &mut out) => match ended {
            Ok(never) => match never {},
            Err(error) => Err(format!("cannot listen on {}: {error}", args.listen)),
        },
        _ = tokio::signal::ctrl_c() => Ok(Exit::Completed),
    }
}

/// The scripts of a folder that can share a server.
fn scripts_in(folder: &Path) -> Result<Vec<Script>, String> {
    let unreadable = |error| format!("{}: cannot be read: {error}", folder.display());
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let script = Script::from_file(&path).map_err(|error| error.to_string())?;
            if script.server.iter().all(|response| response.refuse_ms.is_none()) {
                scripts.push(script);
            }
        }
    }
    if scripts.is_empty() {
        return Err(format!("{}: no scripts to play", folder.display()));
    }
    Ok(scripts)
}
