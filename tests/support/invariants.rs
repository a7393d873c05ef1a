//! What holds for the events of every turn, whatever happened in it.

use super::{Run, Screen};
use rejoin::effect::EffectKey;
use rejoin::gemini::FinishClass;
use rejoin::turn::{
    AttemptNo, AttemptReport, Billing, Cause, Completed, ErrorKind, Event, EventKind, Outcome,
    Reset, ResetReason, Strategy,
};
use serde_json::Value;
use std::collections::HashSet;

/// Where a turn stands between two events.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stands {
    Begin,
    Running(Strategy),
    /// Dropped for this cause, with this decision.
    Dropped(Cause, Option<Strategy>),
    /// Reset, and this has to start.
    Starting(Strategy),
    Over,
}

/// Checks one whole turn.
pub fn assert_invariants(run: &Run) {
    assert_invariants_given(run, None);
}

/// The same, where an answer that was checked before may come again and again: it is not taken
/// apart anew.
pub fn assert_invariants_given(run: &Run, known: Option<&Completed>) {
    let events = &run.events;
    for (i, event) in events.iter().enumerate() {
        assert_eq!(event.seq, i as u64 + 1, "seq has a gap");
    }
    order(events);
    let mut screen = Screen::default();
    for event in events {
        screen.apply(&event.kind);
    }
    let reports = match run.last() {
        EventKind::Completed(completed) => {
            assert_eq!(screen.text, completed.text, "the screen shows another text");
            let same = |known: &Completed| {
                (&known.history, &known.tool_calls) == (&completed.history, &completed.tool_calls)
                    && known.text == completed.text
            };
            if !known.is_some_and(same) {
                whole(events, completed, &screen);
            }
            &completed.attempts
        }
        EventKind::Failed(failed) => {
            assert_eq!(failed.partial_text.len(), screen.longest.len(), "not the longest text");
            &failed.attempts
        }
        other => panic!("a turn ends with {other:?}"),
    };
    bills(events, reports);
    assert_eq!(run.requests.len(), reports.len(), "requests and reported attempts differ");
}

/// Checks the log of a turn that was restored while or after an attempt of this number and strategy
/// ran: it shows what was there, and goes on as if that attempt had broken here.
pub fn assert_restored(run: &Run, attempt: AttemptNo, strategy: Strategy) {
    let first = run.events.first().expect("a restored turn has events");
    let started = EventKind::AttemptStarted { strategy };
    let mut events = vec![Event { kind: started, attempt, ..first.clone() }];
    for (i, event) in run.events.iter().enumerate() {
        assert_eq!(event.seq, i as u64 + 1, "seq has a gap");
        events.push(event.clone());
    }
    order_from(&events, attempt.0);
    let screen = Screen::of(events.iter().map(|event| &event.kind));
    let reports = match run.last() {
        EventKind::Completed(completed) => {
            assert_eq!(screen.text, completed.text, "the screen shows another text");
            whole(&events, completed, &screen);
            &completed.attempts
        }
        EventKind::Failed(failed) => {
            assert!(failed.partial_text.len() >= screen.longest.len(), "not the longest text");
            &failed.attempts
        }
        other => panic!("a turn ends with {other:?}"),
    };
    for (report, number) in reports.iter().zip(1..) {
        assert_eq!(report.attempt.0, number, "an attempt is missing");
    }
    let before = attempt.0 as usize - 1;
    bills(&events, &reports[before..]);
    assert_eq!(run.requests.len(), reports.len() - before - 1, "requests and attempts differ");
}

/// The order of events within and between attempts.
fn order(events: &[Event]) {
    if let EventKind::AttemptStarted { strategy } = &events[0].kind {
        assert_eq!(*strategy, Strategy::Initial);
    }
    order_from(events, 1);
}

fn order_from(events: &[Event], first: u32) {
    let (mut stands, mut attempt) = (Stands::Begin, first);
    for event in events {
        let no = event.attempt.0;
        let next = match (stands, &event.kind) {
            (Stands::Begin, EventKind::AttemptStarted { strategy }) => Stands::Running(*strategy),
            (Stands::Begin, EventKind::Failed(failed)) => {
                assert_eq!(failed.error.kind, ErrorKind::InvalidArgument);
                Stands::Over
            }
            (Stands::Running(strategy), kind) => match kind {
                EventKind::Text { text } | EventKind::Thought { text } => {
                    assert!(!text.is_empty(), "an empty delta");
                    stands
                }
                EventKind::ToolSeen { .. } | EventKind::Part { .. } => stands,
                EventKind::Reset(reset) if reset.reason == ResetReason::AnswerRestarted => {
                    assert!(matches!(strategy, Strategy::Continue | Strategy::NonStreaming));
                    assert_eq!((reset.keep_utf16.0, reset.keep_text_bytes), (0, 0));
                    stands
                }
                EventKind::Reset(reset) => {
                    assert_eq!(reset.reason, ResetReason::Continuation);
                    attempt += 1;
                    Stands::Starting(Strategy::Resume)
                }
                EventKind::Dropped(dropped) => {
                    assert!(!dropped.decision.reasons.is_empty(), "a decision without a reason");
                    Stands::Dropped(dropped.cause, dropped.decision.strategy)
                }
                EventKind::Completed(_) => Stands::Over,
                EventKind::Failed(failed) => {
                    assert_eq!(failed.error.kind, ErrorKind::Cancelled);
                    Stands::Over
                }
                other => panic!("{other:?} in a running attempt"),
            },
            (Stands::Dropped(_, Some(_)), EventKind::Waiting { next_attempt, .. }) => {
                assert_eq!(next_attempt.0, attempt + 1);
                stands
            }
            (Stands::Dropped(cause, Some(strategy)), EventKind::Reset(reset)) => {
                assert_eq!(reset.reason, ResetReason::Cause(cause), "the reset's reason");
                keeps(reset, strategy);
                attempt += 1;
                Stands::Starting(strategy)
            }
            (Stands::Dropped(_, Some(_)), EventKind::Failed(failed)) => {
                let kind = failed.error.kind;
                assert!(matches!(kind, ErrorKind::Cancelled | ErrorKind::Unreachable), "{kind}");
                Stands::Over
            }
            (Stands::Dropped(_, None), EventKind::Failed(_)) => Stands::Over,
            (Stands::Starting(decided), EventKind::AttemptStarted { strategy }) => {
                assert_eq!(*strategy, decided, "another strategy than was decided");
                Stands::Running(decided)
            }
            (stands, kind) => panic!("{kind:?} where the turn stands at {stands:?}"),
        };
        assert_eq!(no, attempt, "{:?} names another attempt", event.kind);
        stands = next;
    }
    assert_eq!(stands, Stands::Over, "no terminal event");
}

/// What a reset may keep before an attempt of this strategy.
fn keeps(reset: &Reset, strategy: Strategy) {
    let beside_text = (reset.keep_thought_utf16.0, reset.keep_tools, reset.keep_parts);
    match strategy {
        Strategy::Restart | Strategy::Initial => {
            assert_eq!((reset.keep_utf16.0, beside_text), (0, (0, 0, 0)), "a restart keeps");
        }
        Strategy::Continue => {
            assert_eq!(beside_text, (0, 0, 0), "a continuation keeps more than text");
            assert!(reset.keep_utf16.0 > 0, "a continuation of nothing");
        }
        Strategy::Resume | Strategy::NonStreaming => {}
    }
}

/// A completed turn says the same on the screen, in `completed` and in the history.
fn whole(events: &[Event], completed: &Completed, screen: &Screen) {
    let history: Vec<Value> = completed
        .history
        .iter()
        .map(|content| serde_json::from_str(content.as_str()).expect("history is JSON"))
        .collect();
    assert!(history.len() <= 1, "more than one content");
    let parts: Vec<&Value> = history.iter().flat_map(|c| c["parts"].as_array().unwrap()).collect();
    let joined = |thought: bool| -> String {
        let of_channel = |part: &&&Value| part["thought"].as_bool().unwrap_or(false) == thought;
        parts.iter().filter(of_channel).filter_map(|part| part["text"].as_str()).collect()
    };
    assert_eq!(joined(false), completed.text, "the history says another text");
    assert_eq!(joined(true), screen.thoughts, "the history holds other thoughts");
    let told = ["text", "thought", "functionCall", "thoughtSignature", "partMetadata"];
    let is_other =
        |part: &&Value| part.as_object().unwrap().keys().any(|key| !told.contains(&key.as_str()));
    let others: Vec<&Value> = parts.iter().copied().filter(is_other).collect();
    let shown: Vec<Value> =
        screen.parts.iter().map(|part| serde_json::from_str(part).unwrap()).collect();
    assert_eq!(others, shown.iter().collect::<Vec<_>>(), "the screen shows other parts");
    if completed.finish.class != FinishClass::Complete {
        assert!(completed.tool_calls.is_empty(), "tools of an answer that is not complete");
        return;
    }
    let names: Vec<_> = completed.tool_calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, screen.tools, "calls that were not seen, or the other way round");
    let mut keys = HashSet::new();
    for call in &completed.tool_calls {
        assert!(keys.insert(&call.effect_key), "two effects with one key");
        let args: Value = serde_json::from_str(call.args.as_str()).unwrap();
        let step = call.step.as_deref();
        let key = EffectKey::new(&events[0].turn, &call.name, &args, call.ordinal, step).unwrap();
        assert_eq!(key.as_str(), call.effect_key, "a key that the call does not explain");
    }
}

/// The reports tell the same story as the events.
fn bills(events: &[Event], reports: &[AttemptReport]) {
    let started: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::AttemptStarted { strategy } => Some((event.attempt, *strategy)),
            _ => None,
        })
        .collect();
    let told: Vec<_> = reports.iter().map(|report| (report.attempt, report.strategy)).collect();
    assert_eq!(told, started, "the reports list other attempts");
    let completed = matches!(events.last().map(|e| &e.kind), Some(EventKind::Completed(_)));
    for (i, report) in reports.iter().enumerate() {
        let last = i + 1 == reports.len();
        let dropped = events.iter().find_map(|event| match &event.kind {
            EventKind::Dropped(dropped) if event.attempt == report.attempt => Some(dropped),
            _ => None,
        });
        let known = matches!(report.usage.billing, Billing::Known | Billing::Unknown);
        match report.outcome {
            Outcome::Completed => assert!(last && completed && known && dropped.is_none()),
            Outcome::Continued => assert!(!last && known && dropped.is_none()),
            Outcome::Cancelled => assert!(last && !completed && dropped.is_none()),
            Outcome::Dropped => assert!(dropped.unwrap().decision.strategy.is_some()),
            Outcome::Failed => assert!(last && dropped.unwrap().decision.strategy.is_none()),
        }
        if let Some(dropped) = dropped {
            assert_eq!(Some(dropped.cause), report.cause, "another cause is reported");
            assert_eq!(dropped.received_tokens, report.received_tokens);
            let billing = report.usage.billing;
            assert_ne!(billing, Billing::Known, "an abandoned bill is never known");
            assert_eq!(billing == Billing::NotSent, dropped.cause == Cause::Unreachable);
            assert_eq!(billing == Billing::NotBilled, dropped.http_status.is_some());
        }
    }
}
