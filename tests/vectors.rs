//! The vectors that Rust, Kotlin and Swift share: the same JSON files run in each of them.
//!
//! What the core computes is asked of the core. The screen state lives in the bindings; here a
//! small reference of it keeps the vectors honest.

use rejoin::effect::{EffectKey, ToolRule};
use rejoin::text::{Checkpoint, estimate_tokens};
use rejoin::turn::{Evidence, Policy, Utf16Len, decide};
use serde_json::{Value, json};

fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let cases = file["cases"].as_array().expect("a list of cases").clone();
    assert!(!cases.is_empty(), "{path} has no case");
    cases
}

#[test]
fn effect_keys() {
    for case in cases("effect_key") {
        let args = serde_json::from_str(case["args"].as_str().unwrap()).unwrap();
        let key_fields = strings(&case["key_fields"]);
        let rule = ToolRule { name: case["name"].as_str().unwrap().to_owned(), key_fields };
        let key = EffectKey::new(
            case["turn"].as_str().unwrap(),
            &rule.name,
            &rule.keyed(&args),
            u32::try_from(case["ordinal"].as_u64().unwrap()).unwrap(),
            case["step"].as_str(),
        );
        assert_eq!(key.unwrap().as_str(), case["key"], "{}", case["about"]);
    }
}

#[test]
fn committed_text() {
    for case in cases("committed_text") {
        let text = case["text"].as_str().unwrap();
        let mut checkpoint = Checkpoint::new();
        checkpoint.push(text);
        let committed = checkpoint.cut().map(|cut| &text[..cut.len]);
        assert_eq!(committed, case["committed"].as_str(), "{}", case["name"]);
        let utf16 = Utf16Len::of(committed.unwrap_or("")).0;
        assert_eq!(Some(utf16), case["committed_utf16"].as_u64(), "{}", case["name"]);
    }
}

#[test]
fn estimated_tokens() {
    for case in cases("estimate_tokens") {
        let tokens = estimate_tokens(case["text"].as_str().unwrap());
        assert_eq!(Some(tokens), case["tokens"].as_u64(), "{case}");
    }
}

#[test]
fn decisions() {
    for case in cases("decide") {
        let policy = case.get("policy").unwrap_or(&json!({})).to_string();
        let decision = decide(&evidence(&case["evidence"]), &Policy::from_json(&policy).unwrap());
        let strategy = decision.next.map_or("fail", |(strategy, _)| strategy.as_str());
        assert_eq!(strategy, case["strategy"], "{case}");
        let reasons: Vec<_> = decision.reasons.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(reasons, strings(&case["reasons"]), "{case}");
    }
}

fn evidence(json: &Value) -> Evidence {
    let mut evidence = Evidence::default();
    for (name, value) in json.as_object().unwrap() {
        macro_rules! set {
            (bools $($bool:ident),+; numbers $($number:ident),+) => {
                match name.as_str() {
                    $(stringify!($bool) => evidence.$bool = value.as_bool().unwrap(),)+
                    $(stringify!($number) => {
                        evidence.$number = value.as_u64().unwrap().try_into().unwrap();
                    })+
                    _ => panic!("no evidence is named {name}"),
                }
            };
        }
        set!(bools cancelled, not_retryable, model_fault_repeated, was_unsent, fell_back, has_token,
             resume_refused, schema, tool_seen, code_seen, media_seen, grounding_seen, forced_tools,
             deep_thinking, model_fault, continuation_refused, continuation_empty, has_committed;
             numbers attempts, unsent, spent_tokens, stream_drops, committed_tokens);
    }
    evidence
}

#[test]
fn transcripts() {
    for case in cases("transcript") {
        let events = case["events"].as_array().unwrap();
        for check in case["checks"].as_array().unwrap() {
            let presentation = check["presentation"].as_str().unwrap();
            let after = usize::try_from(check["after"].as_u64().unwrap()).unwrap();
            let mut screen = Screen::new(presentation);
            events[..after].iter().for_each(|event| screen.apply(event));
            let (got, expected) = (screen.json(), &check["expect"]);
            assert_eq!(&got, expected, "{} after {after}, {presentation}", case["name"]);
        }
    }
}

/// The rules of the screen state, in the plainest form: whole strings, copied at will.
struct Screen {
    presentation: String,
    answer: Vec<u16>,
    held: Option<Vec<u16>>,
    thoughts: Vec<u16>,
    tools: Vec<Value>,
    parts: Vec<Value>,
    status: &'static str,
    line: Option<String>,
    last_reset: Value,
    notes: Vec<Value>,
    last: Value,
    partial: Option<Value>,
}

impl Screen {
    fn new(presentation: &str) -> Self {
        Self {
            presentation: presentation.to_owned(),
            answer: Vec::new(),
            held: None,
            thoughts: Vec::new(),
            tools: Vec::new(),
            parts: Vec::new(),
            status: "starting",
            line: Some("Waiting for the answer…".to_owned()),
            last_reset: Value::Null,
            notes: Vec::new(),
            last: Value::Null,
            partial: None,
        }
    }

    fn is(&mut self, status: &'static str, line: impl Into<Option<&'static str>>) {
        self.status = status;
        self.line = line.into().map(str::to_owned);
    }

    fn apply(&mut self, event: &Value) {
        const RECONNECTING: &str = "Interrupted. Picking up again…";
        match event["type"].as_str().unwrap() {
            "attempt_started" if event["strategy"] == "initial" => {
                self.is("starting", "Waiting for the answer…");
            }
            "attempt_started" if ["waiting", "offline"].contains(&self.status) => {
                self.is("reconnecting", RECONNECTING);
            }
            "text" => {
                self.answer.extend(event["text"].as_str().unwrap().encode_utf16());
                self.is("answering", None);
            }
            "thought" => {
                self.thoughts.extend(event["text"].as_str().unwrap().encode_utf16());
                self.is("thinking", "Thinking…");
            }
            "tool_seen" => {
                self.tools.push(event["name"].clone());
                self.is("calling_tool", None);
                self.line = Some(format!("Preparing {}…", event["name"].as_str().unwrap()));
            }
            "part" => {
                self.parts.push(event["part"].clone());
                self.is("answering", None);
            }
            "dropped" if event["decision"]["strategy"] != "fail" => {
                self.is("reconnecting", RECONNECTING);
            }
            "waiting" if event["why"] == "offline" => {
                self.is("offline", "Offline. Waiting for a network…");
            }
            "waiting" => {
                self.is("waiting", "Trying again soon…");
                if let Some(ms) = event["for_ms"].as_u64() {
                    self.line = Some(format!("Trying again in {} s…", ms.div_ceil(1000)));
                }
            }
            "reset" => self.reset(event),
            "completed" => {
                assert_eq!(event["text"], text(&self.answer), "the vector breaks the invariant");
                self.over(
                    "completed",
                    match event["finish"]["class"].as_str().unwrap() {
                        "truncated" => Some("The answer was cut at its length limit."),
                        "policy" => Some("The answer was stopped by a policy of the service."),
                        _ => None,
                    },
                );
            }
            "failed" => {
                self.partial = Some(event["partial_text"].clone());
                self.over(
                    "failed",
                    Some(match event["error"]["kind"].as_str().unwrap() {
                        "cancelled" => "Stopped.",
                        "unreachable" => "The server cannot be reached.",
                        "attempts_used_up" => "The connection does not hold.",
                        "quota_exhausted" => "The quota is used up.",
                        "blocked" => "The request was blocked.",
                        _ => "Something went wrong.",
                    }),
                );
            }
            _ => {}
        }
        self.held.take_if(|held| self.answer.len() >= held.len());
        self.last = event.clone();
    }

    fn reset(&mut self, event: &Value) {
        let number = |name: &str| usize::try_from(event[name].as_u64().unwrap()).unwrap();
        let keep = number("keep_utf16");
        let note = json!({
            "attempt": event["attempt"],
            "at_utf16": keep,
            "dropped": text(&self.answer[keep..]),
            "reason": event["reason"],
        });
        if self.presentation == "hold" && self.held.is_none() && keep < self.answer.len() {
            self.held = Some(self.answer.clone());
        }
        if self.presentation == "annotate" {
            self.notes.retain(|note| note["at_utf16"].as_u64().unwrap() <= keep as u64);
            self.notes.push(note.clone());
        }
        self.last_reset = note;
        self.answer.truncate(keep);
        assert_eq!(text(&self.answer).len(), number("keep_text_bytes"), "the vector's bytes");
        self.thoughts.truncate(number("keep_thought_utf16"));
        self.tools.truncate(number("keep_tools"));
        self.parts.truncate(number("keep_parts"));
    }

    fn over(&mut self, status: &'static str, line: Option<&'static str>) {
        self.is(status, line);
        self.held = None;
        self.tools.clear();
    }

    fn json(&self) -> Value {
        let shown = self.held.as_ref().unwrap_or(&self.answer);
        let finished = ["completed", "failed"].contains(&self.status);
        json!({
            "text": self.partial.clone().unwrap_or_else(|| text(shown).into()),
            "answer": text(&self.answer),
            "holding": self.held.is_some(),
            "thoughts": text(&self.thoughts),
            "pending_tools": self.tools,
            "parts": self.parts,
            "status": self.status,
            "status_line": self.line,
            "last_reset": self.last_reset,
            "notes": self.notes,
            "attempt": self.last["attempt"].as_u64().unwrap_or(0),
            "cursor": self.last["seq"].as_u64().unwrap_or(0),
            "finished": finished,
        })
    }
}

fn text(units: &[u16]) -> String {
    String::from_utf16(units).expect("a reset never cuts a character in two")
}

fn strings(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}
