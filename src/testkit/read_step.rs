//! Reading steps and parts out of a script.
//!
//! Both are read through [`StepFields`], a flat record of every key there is: serde then refuses
//! unknown keys, and the conversions here refuse combinations that mean nothing.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::json::Json;
use super::step::{ErrorForm, ErrorStep, EventStep, Part, PartBody, Step, Usage};

/// Every key a step can have. `Option`s throughout: presence is what tells steps apart.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFields {
    text: Option<String>,
    thought: Option<String>,
    call: Option<String>,
    args: Option<Json>,
    id: Option<String>,
    part: Option<Json>,
    event: Option<Vec<Part>>,
    json: Option<Json>,
    error: Option<u16>,
    form: Option<ErrorForm>,
    status: Option<String>,
    message: Option<String>,
    details: Option<Json>,
    raw: Option<String>,
    raw_b64: Option<String>,
    wait_ms: Option<u64>,
    wait_next: Option<u64>,
    sig: Option<String>,
    finish: Option<String>,
    finish_message: Option<String>,
    usage: Option<Usage>,
    response_id: Option<String>,
}

impl StepFields {
    /// The names of the keys that say what kind of step this is.
    fn kinds(&self) -> Vec<&'static str> {
        let present = [
            ("text", self.text.is_some()),
            ("thought", self.thought.is_some()),
            ("call", self.call.is_some()),
            ("part", self.part.is_some()),
            ("event", self.event.is_some()),
            ("json", self.json.is_some()),
            ("error", self.error.is_some()),
            ("raw", self.raw.is_some()),
            ("raw_b64", self.raw_b64.is_some()),
            ("wait_ms", self.wait_ms.is_some()),
            ("wait_next", self.wait_next.is_some()),
        ];
        present.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect()
    }

    /// Refuses keys that another kind of step owns.
    fn refuse_strays(&self, kind: &str) -> Result<(), String> {
        let is_error = kind == "error";
        let is_call = kind == "call";
        let is_event = matches!(kind, "text" | "thought" | "call" | "event" | "json" | "finish");
        let has_content = matches!(kind, "text" | "thought" | "call" | "event" | "part");
        let strays = [
            ("args", self.args.is_some() && !is_call),
            ("id", self.id.is_some() && !is_call),
            ("form", self.form.is_some() && !is_error),
            ("status", self.status.is_some() && !is_error),
            ("message", self.message.is_some() && !is_error),
            ("details", self.details.is_some() && !is_error),
            ("sig", self.sig.is_some() && !has_content),
            ("finish", self.finish.is_some() && !is_event),
            ("finish_message", self.finish_message.is_some() && !is_event),
            ("usage", self.usage.is_some() && !is_event),
            ("response_id", self.response_id.is_some() && !is_event),
        ];
        match strays.iter().find(|(_, stray)| *stray) {
            Some((name, _)) => Err(format!("`{name}` means nothing in a `{kind}` step")),
            None => Ok(()),
        }
    }

    /// The one part that a step or PART of this kind holds, if it holds one.
    fn take_part(&mut self) -> Result<Option<Part>, String> {
        let body = if let Some(text) = self.text.take() {
            PartBody::Text(text)
        } else if let Some(text) = self.thought.take() {
            PartBody::Thought(text)
        } else if let Some(name) = self.call.take() {
            PartBody::Call { name, args: self.args.take(), id: self.id.take() }
        } else if let Some(object) = self.part.take() {
            raw_part(object)?
        } else {
            return Ok(None);
        };
        Ok(Some(Part { body, sig: self.sig.take() }))
    }
}

/// Reads `inlineData.fill`, the one short form inside a raw part.
fn raw_part(object: Json) -> Result<PartBody, String> {
    if !object.is_object() {
        return Err("`part` must be an object".into());
    }
    let value = object.to_value();
    let inline = &value["inlineData"];
    let Some(fill) = inline.get("fill") else { return Ok(PartBody::Raw(object)) };
    let bytes = fill.as_u64().and_then(|n| usize::try_from(n).ok());
    Ok(PartBody::Fill {
        mime_type: inline["mimeType"].as_str().unwrap_or("image/png").to_owned(),
        bytes: bytes.ok_or("`fill` must be a number of bytes")?,
    })
}

impl TryFrom<StepFields> for Step {
    type Error = String;

    fn try_from(mut fields: StepFields) -> Result<Self, String> {
        let kinds = fields.kinds();
        let kind = match kinds.as_slice() {
            [] if fields.finish.is_some() => "finish",
            [] => return Err("a step must say what it sends".into()),
            ["part"] => return Err("`part` belongs into an `event`".into()),
            [one] => *one,
            [one, two, ..] => return Err(format!("a step is `{one}` or `{two}`, not both")),
        };
        fields.refuse_strays(kind)?;
        if let Some(code) = fields.error {
            return Ok(Self::Error(ErrorStep {
                code,
                form: fields.form.unwrap_or_default(),
                status: fields.status,
                message: fields.message,
                details: fields.details,
            }));
        }
        if let Some(text) = fields.raw {
            return Ok(Self::Raw(text.into_bytes()));
        }
        if let Some(text) = fields.raw_b64 {
            return STANDARD.decode(&text).map(Self::Raw).map_err(|e| format!("`raw_b64`: {e}"));
        }
        if let Some(ms) = fields.wait_ms {
            return Ok(Self::WaitMs(ms));
        }
        if let Some(ms) = fields.wait_next {
            return Ok(Self::WaitNext(ms));
        }
        let object = fields.json.take();
        let mut parts = fields.event.take();
        // A signature on a whole `event` goes to its first part: with parallel calls, Gemini
        // signs the first one only.
        if let (Some(first), Some(sig)) =
            (parts.as_mut().and_then(|p| p.first_mut()), fields.sig.take_if(|_| kind == "event"))
        {
            first.sig.get_or_insert(sig);
        }
        if let Some(part) = fields.take_part()? {
            parts = Some(vec![part]);
        }
        let event = EventStep {
            parts,
            finish: fields.finish,
            finish_message: fields.finish_message,
            usage: fields.usage,
            response_id: fields.response_id,
        };
        match object {
            Some(object) if object.is_object() => Ok(Self::Json { object, over: event }),
            Some(_) => Err("`json` must be an object".into()),
            None => Ok(Self::Event(event)),
        }
    }
}

impl TryFrom<StepFields> for Part {
    type Error = String;

    fn try_from(mut fields: StepFields) -> Result<Self, String> {
        match fields.kinds().as_slice() {
            [kind @ ("text" | "thought" | "call" | "part")] => {
                // Events' keys are strays in a part, whatever kind it is.
                if fields.finish.is_some() || fields.usage.is_some() {
                    return Err("`finish` and `usage` belong to the event, not to a part".into());
                }
                if fields.finish_message.is_some() || fields.response_id.is_some() {
                    return Err("`finish_message` and `response_id` belong to the event".into());
                }
                fields.refuse_strays(kind)?;
                fields.take_part()?.ok_or_else(|| "an empty part".into())
            }
            _ => Err("a part is a string, `text`, `thought`, `call` or `part`".into()),
        }
    }
}

/// Reads "a string or an object of [`StepFields`]" without buffering, which would lose the
/// spelling that [`Json`] keeps.
struct TextOrFields;

impl<'de> Visitor<'de> for TextOrFields {
    type Value = StepFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an object")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<StepFields, E> {
        let text = String::deserialize(StrDeserializer::new(text))?;
        Ok(StepFields { text: Some(text), ..StepFields::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StepFields, A::Error> {
        StepFields::deserialize(MapAccessDeserializer::new(map))
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_any(TextOrFields)?;
        Self::try_from(fields).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_any(TextOrFields)?;
        Self::try_from(fields).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Usage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        if json.is_object() {
            return Ok(Self::Object(json));
        }
        let counts: Vec<Option<u64>> = serde_json::from_str(json.as_str())
            .map_err(|e| de::Error::custom(format!("`usage` is a list or an object: {e}")))?;
        if counts.len() > 3 {
            return Err(de::Error::custom("`usage` is [prompt, candidates, thoughts]"));
        }
        let count = |i: usize| counts.get(i).copied().flatten();
        Ok(Self::Counts([count(0), count(1), count(2)]))
    }
}
