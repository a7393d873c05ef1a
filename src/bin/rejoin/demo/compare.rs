//! The table at the end of a story: three clients, one server.

use super::outcome::{Cost, Outcome, REJOIN};
use super::simple::SeenCall;
use crate::pretty::style::{Line, Look};
use crate::pretty::table::{Cells, Side, table};
use crate::pretty::words::{billing, number};
use crate::pretty::wrap::{fitted, head, tail, width};
use rejoin::effect::EffectKey;
use rejoin::testkit::{PartBody, Response, Script, Step};
use rejoin::turn::Billing;

/// Digits of an effect key that are shown: enough to compare by eye.
const KEY_DIGITS: usize = 8;

/// The lines of the table, to fit in so many columns.
pub fn compare(outcomes: &[Outcome], is_json: bool, columns: usize) -> Vec<Line> {
    let with_tools = outcomes.iter().any(|outcome| outcome.payments.refunds() > 0);
    let mut head = vec!["client", "took back", "tokens in+out"];
    let mut sides = vec![Side::Left, Side::Right, Side::Left];
    if with_tools {
        head.insert(1, "refunds");
        sides.insert(1, Side::Left);
    }
    let mut rows: Vec<Cells> =
        vec![head.into_iter().map(|text| (Look::Dim, text.to_owned())).collect()];
    rows.extend(outcomes.iter().map(|outcome| numbers(outcome, with_tools)));
    // The last column is filled by hand: it takes what is left of the line.
    sides.push(Side::Left);
    for row in &mut rows {
        row.push((Look::Plain, String::new()));
    }
    let mut lines = table(&sides, rows).into_iter();
    let head = lines.next().map(|line| line.and(Look::Dim, "the reader is left with"));
    let rows = lines.zip(outcomes).map(|(line, outcome)| {
        let room = columns.saturating_sub(width(&line.bare()));
        left_over(line, outcome, is_json, room)
    });
    head.into_iter().chain(rows).collect()
}

fn numbers(outcome: &Outcome, with_tools: bool) -> Cells {
    let mut cells = vec![
        (Look::Strong, outcome.name.to_owned()),
        (Look::Plain, number(outcome.taken_back as u64)),
        (Look::Plain, costs(&outcome.costs)),
    ];
    if with_tools {
        let payments = &outcome.payments;
        let keys: Vec<_> = payments.keys().map(|key| head(key, KEY_DIGITS)).collect();
        let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") };
        let look = if payments.refunds() > 1 { Look::Broken } else { Look::Whole };
        cells.insert(1, (look, format!("{} ({keys})", payments.refunds())));
    }
    cells
}

/// The costs, attempt by attempt; equal ones in a row are counted.
fn costs(costs: &[Cost]) -> String {
    let runs = costs.chunk_by(|a, b| a == b).map(|run| match run {
        [one] => cost(*one),
        [one, ..] => format!("{}× {}", run.len(), cost(*one)),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

fn cost(cost: Cost) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), number);
    let both = || format!("{}+{}", count(cost.input), count(cost.output));
    match cost.billing {
        Billing::Known => both(),
        Billing::LowerBound => format!("≥{}", both()),
        other => billing(other).to_owned(),
    }
}

/// What the reader is left with: the text around the seam, where it would go wrong.
fn left_over(line: Line, outcome: &Outcome, is_json: bool, room: usize) -> Line {
    let parses = || serde_json::from_str::<serde::de::IgnoredAny>(&outcome.text).is_ok();
    let verdict = match &outcome.gave_up {
        Some(why) => format!(" (gave up: {why})"),
        None if is_json && parses() => " (is JSON)".to_owned(),
        None if is_json => " (no JSON)".to_owned(),
        None => String::new(),
    };
    let room = room.saturating_sub(width(&verdict));
    let line = if outcome.text.is_empty() {
        line.and(Look::Dim, "nothing")
    } else {
        around(line, outcome, room)
    };
    line.and(Look::Broken, verdict)
}

fn around(line: Line, outcome: &Outcome, room: usize) -> Line {
    let flat = |text: &str| text.replace('\n', " ");
    let (before, behind) = outcome.text.split_at(outcome.seam);
    let (before, behind) = (flat(before), flat(behind));
    if before.is_empty() {
        return line.and(Look::Plain, fitted(&behind, room));
    }
    let left = (room / 2).max(room.saturating_sub(width(&behind) + 1));
    let before = match tail(&before, left.saturating_sub(1)) {
        whole if whole.len() == before.len() => before,
        part => format!("…{part}"),
    };
    let rest = room.saturating_sub(width(&before));
    let look = if outcome.stray { Look::Broken } else { Look::Plain };
    line.and(look, before).and(Look::Plain, fitted(&behind, rest))
}

/// What the signs in the table mean, as far as they are in it, and who the others are.
pub fn legend(outcomes: &[Outcome], calls: &[SeenCall], turn_id: Option<&str>) -> Vec<Line> {
    let mut text = String::from("naive appends, resets clears on a retry");
    if outcomes.iter().any(|outcome| outcome.payments.refunds() > 0) {
        text.push_str("; both run a call on arrival");
    }
    text.push('.');
    let has = |billing| {
        let costs = outcomes.iter().flat_map(|outcome| &outcome.costs);
        costs.into_iter().any(|cost| cost.billing == billing)
    };
    if has(Billing::LowerBound) {
        text.push_str(" ≥ at least (abandoned).");
    }
    let others = outcomes.iter().filter(|outcome| outcome.name != REJOIN);
    if others.into_iter().any(|outcome| outcome.gave_up.is_some()) {
        text.push_str(" Both send four requests, half a second apart.");
    }
    if has(Billing::Unknown) {
        text.push_str(" unknown: sent, and no count was seen.");
    }
    let mut lines = vec![Line::of(Look::Dim, text)];
    lines.extend(turn_id.and_then(|turn_id| one_effect(calls, turn_id)));
    lines
}

/// That calls of several attempts, whose ids differ, are one effect.
fn one_effect(calls: &[SeenCall], turn_id: &str) -> Option<Line> {
    let key = |call: &SeenCall| EffectKey::new(turn_id, &call.name, &call.args, 0, None).ok();
    let keys: Option<Vec<_>> = calls.iter().map(key).collect();
    let keys = keys?;
    let ids: Option<Vec<_>> = calls.iter().map(|call| call.id.as_deref()).collect();
    let first = keys.first().filter(|first| keys.len() > 1 && keys.iter().all(|k| k == *first))?;
    let ids = ids?.join(" and ");
    let text = format!("{ids} mean the same: one effect key, {first}");
    Some(Line::of(Look::Dim, text))
}

/// What the seam took off the last attempt: text that the reader already had.
pub fn trimmed(rejoin: &Outcome, script: &Script) -> Option<Line> {
    let shown = &rejoin.text[rejoin.seam..];
    let sent = said(script.server.last()?);
    // Without a seam nothing can be trimmed; and what ends otherwise is not the same text.
    if rejoin.seam == 0 || !sent.ends_with(shown.trim_start()) {
        return None;
    }
    let gone = sent.trim().chars().count().saturating_sub(shown.trim().chars().count());
    let text = format!("The model repeated {gone} characters at the seam. They were taken off.");
    (gone > 0).then(|| Line::of(Look::Dim, text))
}

/// The text of a response.
fn said(response: &Response) -> String {
    let events = response.send.iter().filter_map(|step| match step {
        Step::Event(event) => event.parts.as_deref(),
        _ => None,
    });
    let texts = events.flatten().filter_map(|part| match &part.body {
        PartBody::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
