//! `rejoin serve-flaky`: the flaky server by itself.

use crate::args::ServeArgs;
use crate::exit::Exit;
use rejoin::testkit::{FlakyServer, Script, Throttle, serve};

pub async fn run(args: ServeArgs) -> Result<Exit, String> {
    let script = Script::from_file(&args.script).map_err(|error| error.to_string())?;
    let mut server = FlakyServer::builder().responses(&script).listen(args.listen);
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
