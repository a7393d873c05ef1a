//! Makes a script as slow as a model: its texts come word by word, with pauses.

use rejoin::testkit::{EventStep, Part, PartBody, Response, Step, Usage};
use std::time::Duration;

/// Between words: about as fast as a mid-size model writes.
const WORD_MS: f64 = 40.0;
/// Before the first word of a response.
const FIRST_WORD_MS: f64 = 600.0;
/// After a call or a checkpoint, so that it can be seen.
const LOOK_MS: f64 = 500.0;

/// How fast a story is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace(f64);

impl Pace {
    /// So many times as fast as usual.
    pub fn times(speed: f64) -> Result<Self, String> {
        if speed.is_finite() && (0.01..=1000.0).contains(&speed) {
            Ok(Self(speed))
        } else {
            Err(format!("--speed cannot be {speed}: give 0.01 to 1000"))
        }
    }

    /// The same story, faster.
    pub fn faster(self, times: f64) -> Self {
        Self(self.0 * times)
    }

    // A pause of a story is far below what a double holds exactly, and never negative.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn ms(self, ms: f64) -> u64 {
        (ms / self.0).round() as u64
    }

    #[allow(clippy::cast_precision_loss)]
    pub fn of(self, ms: u64) -> u64 {
        self.ms(ms as f64)
    }

    pub fn duration(self, ms: u64) -> Duration {
        Duration::from_millis(self.of(ms))
    }

    /// The responses at this pace.
    pub fn slow(self, responses: &[Response]) -> Vec<Response> {
        responses
            .iter()
            .map(|response| {
                if let Some(ms) = response.refuse_ms {
                    return Response::refuse(self.of(ms));
                }
                let mut send = vec![Step::WaitMs(self.ms(FIRST_WORD_MS))];
                let mut before = 0;
                for step in &response.send {
                    self.step(step, &mut before, &mut send);
                }
                Response { send, ..response.clone() }
            })
            .collect()
    }

    fn step(self, step: &Step, before: &mut u64, send: &mut Vec<Step>) {
        match step {
            Step::WaitMs(ms) => send.push(Step::WaitMs(self.of(*ms))),
            Step::Event(event) => {
                if let Some(part) = text_of(event) {
                    self.words(event, part, *before, send);
                } else {
                    send.push(step.clone());
                    if event.parts.is_some() {
                        send.push(Step::WaitMs(self.ms(LOOK_MS)));
                    }
                }
                *before = candidates(event).unwrap_or(*before);
            }
            Step::Json { .. } => {
                send.push(step.clone());
                send.push(Step::WaitMs(self.ms(LOOK_MS)));
            }
            other => send.push(other.clone()),
        }
    }

    /// One event a word. Token counts rise from word to word, as they do from event to event.
    fn words(self, event: &EventStep, part: &Part, from: u64, send: &mut Vec<Step>) {
        let (PartBody::Text(text) | PartBody::Thought(text)) = &part.body else { return };
        let words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        let total = words.len() as u64;
        for (n, word) in words.into_iter().enumerate() {
            let is_last = n as u64 + 1 == total;
            let body = match part.body {
                PartBody::Thought(_) => PartBody::Thought(word.to_owned()),
                _ => PartBody::Text(word.to_owned()),
            };
            let usage = event.usage.as_ref().map(|usage| match usage {
                Usage::Counts([prompt, Some(count), thoughts]) => {
                    let so_far = from + count.saturating_sub(from) * (n as u64 + 1) / total;
                    Usage::Counts([*prompt, Some(so_far), *thoughts])
                }
                other => other.clone(),
            });
            send.push(Step::Event(EventStep {
                parts: Some(vec![Part { body, sig: part.sig.clone().filter(|_| is_last) }]),
                finish: event.finish.clone().filter(|_| is_last),
                finish_message: event.finish_message.clone().filter(|_| is_last),
                usage,
                response_id: event.response_id.clone(),
            }));
            send.push(Step::WaitMs(self.ms(WORD_MS)));
        }
    }
}

/// The one text of an event, if that is all it has.
fn text_of(event: &EventStep) -> Option<&Part> {
    match event.parts.as_deref() {
        Some([part]) if matches!(part.body, PartBody::Text(_) | PartBody::Thought(_)) => Some(part),
        _ => None,
    }
}

fn candidates(event: &EventStep) -> Option<u64> {
    match event.usage {
        Some(Usage::Counts([_, count, _])) => count,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_one_by_one_and_add_up_to_the_text() {
        let script = r#"{"name": "x", "request": {"prompt": "p"}, "server": [{"send": [
            {"text": "One two ", "usage": [1, 4, 0]}, {"text": "three", "usage": [1, 6, 0]},
            {"finish": "STOP"}]}]}"#;
        let script = rejoin::testkit::Script::parse(script).unwrap();
        let slow = Pace::times(1.0).unwrap().slow(&script.server);
        let shown: Vec<_> = slow[0]
            .send
            .iter()
            .filter_map(|step| match step {
                Step::Event(event) => text_of(event).map(|part| (part.clone(), candidates(event))),
                _ => None,
            })
            .collect();
        let expected = [("One ", 2), ("two ", 4), ("three", 6)];
        assert_eq!(shown, expected.map(|(word, count)| (Part::text(word), Some(count))));
        let waits = slow[0].send.iter().filter(|step| matches!(step, Step::WaitMs(_))).count();
        assert_eq!(waits, 4);
    }

    #[test]
    fn a_speed_that_makes_no_sense_is_refused() {
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(Pace::times(speed).is_err(), "{speed}");
        }
    }
}
