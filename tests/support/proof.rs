//! What the proofs at every byte share: cuts that look whole, the tally, and two threads to run on.

use super::*;
use rejoin::turn::{Completed, EventKind, Policy, TurnSetup};
use serde_json::Value;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What an app has in hand at the end of a turn.
#[derive(Debug, PartialEq)]
pub struct Hand {
    pub text: String,
    pub thoughts: String,
    pub calls: Vec<(String, Value)>,
    pub finish: String,
    pub parts: Vec<Value>,
}

impl Hand {
    pub fn of(told: &Told) -> Self {
        // Only an answer that is complete hands out its calls.
        let calls = if told.finish == "STOP" { told.calls.clone() } else { Vec::new() };
        Self {
            text: told.text.clone(),
            thoughts: told.thoughts.clone(),
            calls,
            finish: told.finish.clone(),
            parts: told.parts.clone(),
        }
    }

    pub fn after(run: &Run) -> Result<Self, String> {
        let EventKind::Completed(completed) = run.last() else {
            return Err(format!("the turn ended with {:?}", run.last()));
        };
        let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
        let content = completed.history.first().map(|content| value(content.as_str()));
        let parts = content.and_then(|content| content["parts"].as_array().cloned());
        Ok(Self {
            text: completed.text.clone(),
            thoughts: Screen::of(run.events.iter().map(|event| &event.kind)).thoughts,
            calls: completed
                .tool_calls
                .iter()
                .map(|call| (call.name.clone(), value(call.args.as_str())))
                .collect(),
            finish: completed.finish.reason.clone(),
            parts: parts.unwrap_or_default(),
        })
    }

    pub fn differs(&self, other: &Self) -> Option<String> {
        if self.text != other.text {
            return Some(format!("text {}", first_difference(&self.text, &other.text)));
        }
        (self != other).then(|| format!("{self:?} / {other:?}"))
    }
}

pub fn setup(policy: Policy) -> TurnSetup {
    TurnSetup { turn_id: "t".to_owned(), body: BODY.to_owned(), policy, ..TurnSetup::default() }
}

/// Each event of a body: where a cut leaves just this event and those before it. From the last
/// byte of its JSON to the last byte before the next event's line.
pub fn ends_of_events(body: &str) -> Vec<RangeInclusive<usize>> {
    let mut ends: Vec<RangeInclusive<usize>> = Vec::new();
    let mut at = 0;
    for line in body.split_inclusive(['\r', '\n']) {
        let text = line.trim_end_matches(['\r', '\n']);
        if text.starts_with("data:") {
            if let Some(before) = ends.last_mut() {
                *before = *before.start()..=at;
            }
            ends.push(at + text.len()..=body.len());
        }
        at += line.len();
    }
    ends
}

/// A cut that nobody can tell from an end: the events so far say that they are all. Gives what
/// they say. The rule is DESIGN 3's: the last event carries a finish reason that stands on no
/// running code; where content has come after a finish reason before, only a clean end counts.
pub fn looks_whole(
    stream: &Stream,
    ends: &[RangeInclusive<usize>],
    at: usize,
    way: Way,
) -> Option<Hand> {
    let last = ends.iter().position(|range| range.contains(&at))?;
    let events = &stream.events[..=last];
    let finishes = |event: &Value| finish_reason(event).is_some();
    let has = |event: &Value, key: &str| {
        let parts = event["candidates"][0]["content"]["parts"].as_array();
        parts.is_some_and(|parts| parts.iter().any(|part| part.get(key).is_some()))
    };
    let told = slow_read(events);
    if !finishes(&events[last]) || has(&events[last], "executableCode") || told == stream.told {
        return None;
    }
    let ran_code = |event: &Value| has(event, "executableCode");
    let spoke_after = events[..last].iter().any(|event| finishes(event) && !ran_code(event));
    (way == Way::Clean || !spoke_after).then(|| Hand::of(&told))
}

/// The cuts of one stream.
#[derive(Debug, Default)]
pub struct Tally {
    pub cuts: usize,
    /// Cuts after which the model was asked to go on.
    pub continued: usize,
    pub undecidable: Vec<(usize, Way)>,
    pub violations: Vec<String>,
}

impl Tally {
    /// `known` is a completed answer that was found to be as expected: most cuts end with it, byte
    /// for byte, and need no second look.
    pub fn check(
        &mut self,
        cut: &dyn Fn() -> String,
        run: &Run,
        expected: &Hand,
        known: &Completed,
    ) {
        self.cuts += 1;
        assert_invariants_given(run, Some(known));
        let wrong = match run.last() {
            EventKind::Completed(now)
                if (&now.text, &now.history) == (&known.text, &known.history)
                    && (&now.tool_calls, &now.finish) == (&known.tool_calls, &known.finish) =>
            {
                let thoughts = Screen::of(run.events.iter().map(|event| &event.kind)).thoughts;
                (thoughts != expected.thoughts).then_some(thoughts)
            }
            _ => match Hand::after(run) {
                Ok(hand) => hand.differs(expected),
                Err(failure) => Some(failure),
            },
        };
        if let Some(wrong) = wrong {
            self.violations.push(format!("{}: {wrong}", cut()));
        }
    }
}

/// The unbroken turn: its answer is what a slow reader says.
pub fn unbroken(body: &str, whole: &Hand) -> Completed {
    let run = Pair::new(setup(Policy::default()), |_, _| Reply::whole(body)).run();
    assert_invariants(&run);
    assert_eq!(Hand::after(&run).unwrap().differs(whole), None);
    match run.last() {
        EventKind::Completed(completed) => (**completed).clone(),
        other => panic!("{other:?}"),
    }
}

/// Runs `proof` on each stream, on two threads, and prints and judges the sum.
pub fn prove(name: &str, streams: &[Stream], proof: impl Fn(&Stream) -> Tally + Sync) {
    let (next, sums) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(stream) = streams.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = proof(stream);
                    sums.lock().unwrap().push((stream, tally));
                }
            });
        }
    });
    let sums = sums.into_inner().unwrap();
    let cuts: usize = sums.iter().map(|(_, tally)| tally.cuts).sum();
    let continued: usize = sums.iter().map(|(_, tally)| tally.continued).sum();
    let undecidable: usize = sums.iter().map(|(_, tally)| tally.undecidable.len()).sum();
    let violations: Vec<_> = sums.iter().flat_map(|(_, tally)| &tally.violations).collect();
    println!(
        "{name}: {} streams, {cuts} cuts ({continued} continued), {undecidable} look whole to anyone, \
         {} violations",
        streams.len(),
        violations.len()
    );
    for (stream, tally) in sums.iter().filter(|(_, tally)| !tally.undecidable.is_empty()) {
        let mut offsets: Vec<_> = tally.undecidable.iter().map(|(at, _)| *at).collect();
        offsets.dedup();
        println!("  {} looks whole at {offsets:?}", stream.name);
    }
    assert!(violations.is_empty(), "{:#?}", &violations[..violations.len().min(20)]);
}

/// The streams of a few pages: enough for what only varies the long proof.
pub fn short_streams() -> Vec<Stream> {
    all_streams().into_iter().filter(|stream| stream.body.len() <= 6000).collect()
}

pub fn all_streams() -> Vec<Stream> {
    let mut streams = own_streams();
    streams.extend(recordings());
    // The long ones first, so that both threads end together.
    streams.sort_by_key(|stream| std::cmp::Reverse(stream.body.len()));
    streams
}
