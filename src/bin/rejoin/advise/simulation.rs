//! What the simulation gave, as text and as charts.

use super::chart::{Bar, columns, escaped};
use super::report::seconds;
use crate::pretty::words::number;
use rejoin::advice::{Row, Strategy, WorldRows};
use std::fmt::Write as _;

const HEAD: &str = "policy                input  output  per 1,000  vs oracle  first text    median       90 %  seams  taken back  failed";

pub fn text(worlds: &[WorldRows]) -> String {
    let mut out = String::from(
        "Simulated turns: tokens paid for each, money for a thousand, times, seams in a hundred\n",
    );
    for world in worlds {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "\n{}: {:.1} drops a turn that always restarts\n{HEAD}",
            world.world.as_str(),
            world.cuts
        );
        for row in &world.rows {
            let _ = writeln!(out, "{}", line(world, row));
        }
    }
    let _ = writeln!(out, "\n{NOTE}");
    for line in better(worlds) {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Below this share a difference is not worth a setting.
const WORTH: f64 = 0.03;

/// Where another setting of the gate is paid less.
pub fn better(worlds: &[WorldRows]) -> Vec<String> {
    let money = |world: &WorldRows, wanted| {
        world.rows.iter().find(|row| row.strategy == wanted).map(|row| row.money)
    };
    worlds
        .iter()
        .filter_map(|world| {
            let now = money(world, Strategy::Rejoin)?;
            let on = money(world, Strategy::RejoinStreams)?;
            let spared = 1.0 - on / now;
            (spared > WORTH).then(|| {
                format!(
                    "{}: stream_drops_before_fallback=100 would cost {:.0} % less: what is \
                     fetched in one piece is lost whole when the line breaks again",
                    world.world.as_str(),
                    spared * 100.0
                )
            })
        })
        .collect()
}

const NOTE: &str = "\
Every token that was generated until a cut counts as paid. The oracle sends when it can, like
everybody, and after each cut takes the course that is paid least, knowing the cuts to come.
Rejoin fetches the rest in one piece after the second drop; \"streaming on\" never does.";

fn line(world: &WorldRows, row: &Row) -> String {
    let beyond = world.beyond_oracle(row.strategy).unwrap_or(0.0) * 100.0;
    format!(
        "{:<20} {:>6} {:>7} {:>10.3} {:>+9.1} % {:>10} {:>9} {:>10} {:>6.1} {:>11} {:>5.1} %",
        row.strategy.as_str(),
        whole(row.input),
        whole(row.output),
        row.money,
        beyond,
        seconds(row.first_text),
        seconds(row.median),
        seconds(row.p90),
        row.seams,
        whole(row.taken_back),
        row.failed * 100.0
    )
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(tokens: f64) -> String {
    number(tokens.round().max(0.0) as u64)
}

/// A chart for each world: what each policy pays beyond the oracle.
pub fn charts(worlds: &[WorldRows]) -> String {
    let beyond = |world: &WorldRows, row: &Row| world.beyond_oracle(row.strategy).unwrap_or(0.0);
    let all = worlds.iter().flat_map(|world| world.rows.iter().map(|row| beyond(world, row)));
    let most = all.fold(0.0, f64::max) * 100.0;
    let charts = worlds.iter().map(|world| {
        let bars: Vec<_> = world
            .rows
            .iter()
            .filter(|row| row.strategy != Strategy::Oracle)
            .map(|row| {
                let beyond = beyond(world, row) * 100.0;
                Bar {
                    label: row.strategy.as_str().to_owned(),
                    value: beyond.max(0.0),
                    shown: format!("{beyond:+.1} %"),
                    strong: row.strategy == Strategy::Rejoin,
                }
            })
            .collect();
        let name = world.world.as_str();
        format!("<h3>{}</h3>{}", escaped(name), columns(name, &bars, most))
    });
    let charts: Vec<_> = charts.collect();
    let notes: Vec<_> =
        better(worlds).iter().map(|note| format!("<p>{}</p>", escaped(note))).collect();
    format!(
        "<section><h2>Paid beyond an oracle that knows when drops come</h2>\
         <p>Simulated turns, money, Rejoin's gate marked.</p>{}{}</section>",
        charts.concat(),
        notes.concat()
    )
}
