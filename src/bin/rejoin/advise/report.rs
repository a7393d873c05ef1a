//! The findings as text for a terminal or a file.

use super::{Findings, simulation};
use crate::pretty::words::number;
use rejoin::advice::{Recommendation, Threshold};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The widest bar of the histogram, in characters.
const BAR: u64 = 36;

pub fn text(findings: &Findings) -> String {
    let mut out = String::new();
    if findings.files > 0 {
        log(&mut out, findings);
    }
    if !findings.worlds.is_empty() {
        if !out.is_empty() {
            line(&mut out, "");
        }
        out.push_str(&simulation::text(&findings.worlds));
    }
    out
}

fn log(out: &mut String, findings: &Findings) {
    let tally = &findings.tally;
    line(out, &headline(findings));
    for note in notes(findings) {
        line(out, &note);
    }
    if tally.drops == 0 {
        return;
    }
    line(out, "");
    names(out, "causes", &tally.causes);
    names(out, "next", &tally.strategies);
    names(out, "because", &tally.reasons);
    line(out, "");
    line(out, "R, the output tokens in hand, of the drops that the threshold decides");
    let most = tally.histogram().map(|(_, _, count)| count).max().unwrap_or(0).max(1);
    for (low, high, count) in tally.histogram() {
        let range = range(low, high);
        let cells = (count * BAR).div_ceil(most);
        let bar = "#".repeat(usize::try_from(cells).unwrap_or(0));
        line(out, format!("{range:>12}  {:>9}  {bar}", number(count)).trim_end());
    }
    line(out, "");
    thresholds(out, findings);
    line(out, "");
    line(out, &recommendation(findings));
}

/// What was read.
pub fn headline(findings: &Findings) -> String {
    let tally = &findings.tally;
    let files = if findings.files == 1 { "1 file" } else { &format!("{} files", findings.files) };
    if tally.drops == 0 {
        return format!("no drop in {files}: nothing to advise on");
    }
    let exact = percent(tally.exact, tally.drops);
    format!(
        "{} drops in {files}; R measured in {exact}, estimated in the rest; the threshold decides {} of them",
        number(tally.drops),
        number(tally.for_the_threshold())
    )
}

/// What a reader should know before believing the figures.
pub fn notes(findings: &Findings) -> Vec<String> {
    let (tally, advice) = (&findings.tally, &findings.advice);
    let mut notes = Vec::new();
    if let Some(place) = &findings.first_unreadable {
        let lines = number(findings.unreadable);
        notes.push(format!("{lines} lines could not be read, the first in {place}"));
    }
    if tally.drops == 0 {
        return notes;
    }
    if advice.few {
        notes.push("fewer than 100 drops for the threshold: take what follows as a guess".into());
    }
    let seams = tally.continuations;
    notes.push(if seams.known == 0 {
        "no continuation in the log: its seams are taken to hold, which flatters continuing".into()
    } else {
        format!(
            "{} continuations: {} clean, {} mended unseen, {} began anew, {} came to nothing",
            number(seams.known),
            percent(seams.clean, seams.known),
            percent(seams.mended, seams.known),
            percent(seams.restarted, seams.known),
            percent(seams.wasted, seams.known)
        )
    });
    let (waits, waited) = tally.waits;
    if waits > 0 {
        notes.push(format!(
            "{} of the drops waited before the next attempt, {} on average",
            percent(waits, tally.drops),
            seconds(ratio(waited, waits) / 1000.0)
        ));
    }
    let told = if tally.tokens_per_second().is_some() { "" } else { ", an assumption" };
    notes.push(format!(
        "speed {:.0} tokens/s{told}; a seam is priced at {}; the dropped attempts cost {} or more",
        advice.speed,
        amount(advice.seam_price),
        amount(advice.bill)
    ));
    notes
}

fn names(out: &mut String, what: &str, counts: &BTreeMap<String, u64>) {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    let all: Vec<_> =
        sorted.iter().map(|(name, count)| format!("{name} {}", number(**count))).collect();
    line(out, &format!("{what:<8} {}", all.join(", ")));
}

fn thresholds(out: &mut String, findings: &Findings) {
    line(out, "threshold  continued     saved  paid again      time spared      lost       net");
    for t in &findings.advice.thresholds {
        let mark = if is_recommended(findings, t) { "  <-" } else { "" };
        line(
            out,
            &format!(
                "{:>9}  {:>9}  {:>8}  {:>10}  {:>15}  {:>8}  {:>8}{mark}",
                number(t.tokens),
                number(t.continued),
                amount(t.saved),
                amount(t.paid_again),
                seconds(t.seconds),
                format!("{:.0}", t.lost),
                amount(t.net)
            ),
        );
    }
    line(out, "");
    line(out, "saved: R x (output price - input price), less continuations that came to nothing");
    line(out, "paid again: what is generated a second time below the threshold");
    line(out, "lost: continuations that begin anew or come to nothing, at the log's own rate");
    line(out, "net: saved money and time, less the price of the seams");
}

/// Whether this is the threshold to take.
pub fn is_recommended(findings: &Findings, threshold: &Threshold) -> bool {
    findings.advice.recommendation == Recommendation::Continue { tokens: threshold.tokens }
}

/// What to do, in a sentence or two.
pub fn recommendation(findings: &Findings) -> String {
    match &findings.advice.recommendation {
        Recommendation::NothingToSay => {
            "The threshold decides none of these drops (schemas, tools, \
            nothing committed, refusals): no threshold will change what they cost."
                .to_owned()
        }
        Recommendation::NotWorthIt { why } => format!(
            "Continuing is not worth it for you: {why}. Set min_continue_tokens to 1000000, and \
             every drop restarts."
        ),
        Recommendation::Continue { tokens } => {
            let thresholds = &findings.advice.thresholds;
            let at = thresholds.iter().find(|t| t.tokens == *tokens);
            let figures = at.map_or_else(String::new, |t| {
                format!(
                    " It continues {} of the drops that it decides, and saves {} and {} of waiting.",
                    percent(t.continued, findings.tally.for_the_threshold()),
                    amount(t.saved),
                    seconds(t.seconds)
                )
            });
            format!("Set min_continue_tokens to {tokens}.{figures}")
        }
    }
}

/// `100–149`, `4,000+`.
pub fn range(low: u64, high: Option<u64>) -> String {
    match high {
        Some(high) => format!("{}-{}", number(low), number(high - 1)),
        None => format!("{}+", number(low)),
    }
}

/// Money with as many digits as say something.
pub fn amount(money: f64) -> String {
    let digits = match money.abs() {
        m if m >= 1000.0 => 0,
        m if m >= 1.0 || m == 0.0 => 2,
        m if m >= 0.01 => 4,
        _ => 6,
    };
    let text = format!("{money:.digits$}");
    if text.trim_start_matches('-').bytes().all(|b| matches!(b, b'0' | b'.')) {
        return "0.00".to_owned();
    }
    text
}

/// A time in the unit that fits it.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 7200.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 120.0 => format!("{:.1} min", s / 60.0),
        s => format!("{s:.1} s"),
    }
}

#[allow(clippy::cast_precision_loss)] // Shown with three digits.
pub fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", ratio(part, whole) * 100.0)
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}
