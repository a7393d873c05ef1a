//! `rejoin demo`: stories of broken connections, played in real time, with nothing from outside.
//!
//! Each is told by three clients against the same scripted server: Rejoin's on the screen, and two
//! common ones beside it for the table at the end.

mod compare;
mod outcome;
mod pace;
mod payments;
mod scenario;
mod show;
mod simple;

use crate::args::DemoArgs;
use crate::exit::{Exit, Stop};
use crate::pretty::style::{Line, Look};
use crate::pretty::surface::{columns, surface};
use crate::pretty::table::{Side, table};
use crate::pretty::{Ending, Pretty};
use outcome::Outcome;
use pace::Pace;
use rejoin::testkit::{FlakyServer, Script};
use scenario::{DEFAULT, SCENARIOS, Scenario, find};
use show::{Show, Shown};
use simple::{Kind, SeenCall, Simple};
use std::time::Duration;

/// The other clients are not watched: they need not take the reader's time.
const OTHERS_FASTER: f64 = 4.0;
/// What a common client waits before it tries again, in milliseconds.
const OTHERS_PAUSE_MS: u64 = 500;

pub async fn run(args: DemoArgs) -> Result<Exit, Stop> {
    let mut pretty = Pretty::new(surface(true), Ending::Bare);
    if args.list {
        list(&mut pretty)?;
        return Ok(Exit::Completed);
    }
    let pace = Pace::times(args.speed)?;
    let names: Vec<&str> = match &args.scenario {
        Some(name) => vec![name],
        None => DEFAULT.to_vec(),
    };
    for (n, name) in names.iter().enumerate() {
        if n > 0 {
            pretty.line(Line::new())?;
            pretty = Pretty::new(surface(true), Ending::Bare);
        }
        let legend = n == 0;
        if tell(find(name)?, pace, legend, &mut pretty).await? == Exit::Cancelled {
            return Ok(Exit::Cancelled);
        }
    }
    if args.scenario.is_none() {
        pretty.line(Line::new())?;
        let count = SCENARIOS.len() - DEFAULT.len();
        let hint = format!("{count} more stories: rejoin demo --list");
        pretty.line(Line::of(Look::Dim, hint))?;
    }
    Ok(Exit::Completed)
}

fn list(pretty: &mut Pretty) -> std::io::Result<()> {
    let rows = SCENARIOS.iter().map(|scenario| {
        vec![(Look::Strong, scenario.name.to_owned()), (Look::Plain, scenario.line.to_owned())]
    });
    for line in table(&[Side::Left, Side::Left], rows.collect()) {
        pretty.line(line)?;
    }
    Ok(())
}

async fn tell(
    scenario: &Scenario,
    pace: Pace,
    with_legend: bool,
    pretty: &mut Pretty,
) -> Result<Exit, Stop> {
    let script = scenario.script()?;
    let again = scenario.script_again()?;
    for line in opening(scenario, &script) {
        pretty.line(line)?;
    }
    let server = server(&script, pace).await?;
    let base_url = server.url();
    let show = Show { script: &script, base_url: &base_url, pace, outage: scenario.network };
    // All three at the same time, each with a server of its own.
    let (shown, others) = tokio::join!(show.run(pretty), others(&again, pace));
    let Shown::Over(rejoin) = shown? else { return Ok(Exit::Cancelled) };
    let (naive, resets, calls) = others?;
    pretty.line(Line::new())?;
    if let Some(line) = instruction(&server).filter(|_| scenario.show_instruction) {
        pretty.line(line)?;
    }
    let trimmed = compare::trimmed(&rejoin, &script);
    let outcomes = [naive, resets, rejoin];
    let lines = compare::compare(&outcomes, is_json(&script), columns() - 1);
    for line in lines {
        pretty.line(line)?;
    }
    if let Some(line) = trimmed {
        pretty.line(line)?;
    }
    if with_legend {
        for line in compare::legend(&outcomes, &calls, script.turn_id.as_deref()) {
            pretty.line(line)?;
        }
    }
    Ok(Exit::Completed)
}

fn opening(scenario: &Scenario, script: &Script) -> Vec<Line> {
    let body = script.request_body();
    let prompt = body.pointer("/contents/0/parts/0/text").and_then(|text| text.as_str());
    let mut lines = vec![
        Line::of(Look::Strong, scenario.name).and(Look::Dim, format!(": {}", scenario.line)),
        Line::of(Look::Tool, "> ").and(Look::Strong, prompt.unwrap_or_default()),
    ];
    // A number that is not the default's belongs to the story.
    let policy = script.policy.iter().map(|(name, value)| format!("--set {name}={value}"));
    let policy = policy.collect::<Vec<_>>().join(" ");
    if !policy.is_empty() {
        lines.push(Line::of(Look::Dim, policy));
    }
    lines.push(Line::new());
    lines
}

async fn server(script: &Script, pace: Pace) -> Result<FlakyServer, String> {
    let responses = pace.slow(&script.server);
    FlakyServer::start(responses).await.map_err(|error| format!("no server: {error}"))
}

async fn others(again: &Script, pace: Pace) -> Result<(Outcome, Outcome, Vec<SeenCall>), String> {
    let pace = pace.faster(OTHERS_FASTER);
    let pause: Duration = pace.duration(OTHERS_PAUSE_MS);
    let body = again.request_body().to_string();
    let (for_naive, for_resets) = (server(again, pace).await?, server(again, pace).await?);
    let naive = Simple::new(Kind::Naive, &for_naive.url(), body.clone(), pause)?;
    let resets = Simple::new(Kind::Resets, &for_resets.url(), body, pause)?;
    let ((naive, _), (resets, calls)) = tokio::join!(naive.run(), resets.run());
    Ok((naive, resets, calls))
}

/// How Rejoin asked for the rest: the last thing that the server was told.
fn instruction(server: &FlakyServer) -> Option<Line> {
    let body = server.requests().last()?.json()?;
    let last = body["contents"].as_array()?.last()?;
    let text = last.pointer("/parts/0/text")?.as_str()?;
    Some(Line::of(Look::Dim, format!("Rejoin asked: {text}")))
}

fn is_json(script: &Script) -> bool {
    script.request_body().pointer("/generationConfig/responseMimeType").is_some()
}
