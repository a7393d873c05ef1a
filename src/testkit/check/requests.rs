//! What the server saw, against the script.

use std::time::Duration;

use serde_json::Value;

use super::{json_contains, same};
use crate::testkit::expect::{ExpectRequest, Temperature};
use crate::testkit::log::RequestRecord;
use crate::testkit::script::Script;

pub(super) fn check(script: &Script, requests: &[RequestRecord], wrong: &mut Vec<String>) {
    let expect = &script.expect;
    let came = requests.len();
    match expect.requests_max {
        Some(max) if came > max => {
            wrong.push(format!("{came} requests came, at most {max} allowed"));
        }
        None if came > script.answers() => {
            wrong.push(format!("{came} requests came, at most {} allowed", script.answers()));
        }
        _ => {}
    }
    for (index, want) in expect.requests.iter().enumerate() {
        let Some(want) = want else { continue };
        match requests.get(index) {
            Some(record) => Judge { index, record, requests, wrong }.judge(want),
            None => wrong.push(format!("request {} did not come", index + 1)),
        }
    }
}

/// One request under judgement.
struct Judge<'a> {
    index: usize,
    record: &'a RequestRecord,
    requests: &'a [RequestRecord],
    wrong: &'a mut Vec<String>,
}

impl Judge<'_> {
    fn say(&mut self, what: &str) {
        self.wrong.push(format!("request {}: {what}", self.index + 1));
    }

    fn judge(&mut self, want: &ExpectRequest) {
        self.line(want);
        self.timing(want);
        // Bodies are compared as JSON; one that is none is looked at as text.
        let body = self.record.json().unwrap_or(Value::Null);
        let text = match &body {
            Value::Null => String::from_utf8_lossy(&self.record.body).into_owned(),
            body => body.to_string(),
        };
        for needle in want.contains.iter().filter(|needle| !json_contains(&text, needle)) {
            self.say(&format!("{needle:?} is not in its body"));
        }
        for needle in want.lacks.iter().filter(|needle| json_contains(&text, needle)) {
            self.say(&format!("{needle:?} is in its body"));
        }
        self.contents(want, &body);
        self.likeness(want, &body);
        if let Some(want) = &want.temperature {
            let found = &body["generationConfig"]["temperature"];
            let holds = match want {
                Temperature::Absent => found.is_null(),
                Temperature::Is(want) => same(found, want),
            };
            if !holds {
                self.say(&format!("its temperature is {found}, not {want}"));
            }
        }
    }

    fn line(&mut self, want: &ExpectRequest) {
        let RequestRecord { path, query, .. } = self.record;
        if let Some(end) = &want.path_ends
            && !path.ends_with(end.as_str())
        {
            self.say(&format!("its path {path} does not end with {end}"));
        }
        if let Some(part) = &want.query_has
            && !query.contains(part.as_str())
        {
            self.say(&format!("its query {query:?} lacks {part}"));
        }
        if let Some(part) = &want.query_lacks
            && query.contains(part.as_str())
        {
            self.say(&format!("its query {query:?} has {part}"));
        }
        for (name, value) in &want.headers {
            let found = self.record.header(&name.to_ascii_lowercase());
            if found != Some(value.as_str()) {
                self.say(&format!("header `{name}` is {found:?}, not {value:?}"));
            }
        }
    }

    fn timing(&mut self, want: &ExpectRequest) {
        if let Some(min) = want.min_wait_ms {
            let before = self.index.checked_sub(1).and_then(|index| self.requests.get(index));
            let waited = self.record.at.saturating_sub(before.map_or(Duration::ZERO, |r| r.at));
            if waited < Duration::from_millis(min) {
                self.say(&format!("it came after {} ms, not {min}", waited.as_millis()));
            }
        }
        if let Some(closed) = want.client_closed {
            if !self.record.ended {
                self.say("its response is not over, so nobody knows who closes first");
            } else if self.record.client_closed != closed {
                let who = if closed { "the server" } else { "the client" };
                self.say(&format!("{who} closed first"));
            }
        }
    }

    fn contents(&mut self, want: &ExpectRequest, body: &Value) {
        let contents = body["contents"].as_array().map_or(&[][..], Vec::as_slice);
        if let Some(roles) = &want.roles {
            let found: Vec<&str> =
                contents.iter().map(|content| content["role"].as_str().unwrap_or("-")).collect();
            if found != *roles {
                self.say(&format!("the roles are {found:?}, not {roles:?}"));
            }
        }
        if let Some(want) = &want.last_model_text {
            let found = last_text(contents, "model");
            if found.trim_end() != want.trim_end() {
                self.say(&format!("its last model text is {found:?}, not {want:?}"));
            }
        }
        let user = last_text(contents, "user");
        for needle in want.last_user_contains.iter().filter(|n| !user.contains(n.as_str())) {
            self.say(&format!("{needle:?} is not in its last user text {user:?}"));
        }
    }

    fn likeness(&mut self, want: &ExpectRequest, body: &Value) {
        let other = |k: usize| self.requests.get(k - 1).and_then(RequestRecord::json);
        if let Some(k) = want.same_body_as
            && !other(k).is_some_and(|other| same(&other, body))
        {
            self.say(&format!("its body is not that of request {k}: {body}"));
        }
        if let Some(k) = want.same_but_contents_as {
            let strip = |mut body: Value| {
                if let Some(fields) = body.as_object_mut() {
                    fields.remove("contents");
                }
                // Where the temperature is checked by itself, it may differ.
                if want.temperature.is_some()
                    && let Some(config) = body["generationConfig"].as_object_mut()
                {
                    config.remove("temperature");
                }
                body
            };
            if !other(k).is_some_and(|other| same(&strip(other), &strip(body.clone()))) {
                self.say(&format!(
                    "its body differs from request {k} in more than contents: {body}"
                ));
            }
        }
    }
}

/// The text of the last content of a role.
fn last_text(contents: &[Value], role: &str) -> String {
    let content = contents.iter().rev().find(|content| content["role"] == role);
    let parts = content.and_then(|content| content["parts"].as_array());
    parts.into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
}
