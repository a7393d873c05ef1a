//! One part of a response's content: what it is, and its JSON exactly as received.

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a part holds.
#[derive(Debug, Clone)]
pub enum PartKind<'a> {
    /// A piece of the answer.
    Text(Cow<'a, str>),
    /// A piece of the thinking summary.
    Thought(Cow<'a, str>),
    /// A function call, whole or streamed in fragments.
    Call(CallFragment<'a>),
    /// Code that the server runs: its result follows.
    ExecutableCode,
    /// The result of code that the server ran.
    CodeResult,
    /// An image, audio or file.
    Media,
    /// A kind that this version does not know; it is kept as received.
    Other,
    /// Nothing but siblings of data, such as a signature that came alone.
    Bare,
    /// Nothing at all (`{}`).
    Empty,
}

/// A part with its JSON.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// What it holds.
    pub kind: PartKind<'a>,
    /// Its JSON, byte for byte.
    pub raw: &'a str,
    /// True if it is `{"text": …}` and nothing else, so that its text alone says everything.
    pub plain_text: bool,
}

/// A `functionCall`, or one fragment of it where arguments are streamed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFragment<'a> {
    /// The provider's id. It is per generation: it never identifies an effect.
    #[serde(borrow, default)]
    pub id: Option<Cow<'a, str>>,
    /// The function's name; absent in later fragments.
    #[serde(borrow, default)]
    pub name: Option<Cow<'a, str>>,
    /// The arguments of a whole call.
    #[serde(borrow, default)]
    pub args: Option<&'a RawValue>,
    /// Fragments of streamed arguments.
    #[serde(default)]
    pub partial_args: Option<Vec<PartialArg>>,
    /// True if more fragments of this call follow.
    #[serde(default)]
    pub will_continue: Option<bool>,
}

impl CallFragment<'_> {
    /// True for `functionCall: {}`, which ends a streamed call.
    #[must_use]
    pub fn is_terminator(&self) -> bool {
        self.name.is_none()
            && self.args.is_none()
            && self.partial_args.is_none()
            && self.will_continue != Some(true)
    }
}

/// One value of streamed arguments.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialArg {
    /// Where the value goes, such as `$.a[0].b`.
    pub json_path: String,
    /// A string, or the next piece of one.
    #[serde(default)]
    pub string_value: Option<String>,
    /// A number.
    #[serde(default)]
    pub number_value: Option<serde_json::Number>,
    /// A boolean.
    #[serde(default)]
    pub bool_value: Option<bool>,
    /// True if more of this value follows.
    #[serde(default)]
    pub will_continue: Option<bool>,
}

impl<'a> Part<'a> {
    /// Reads one part.
    ///
    /// # Errors
    /// When the JSON is not an object, or a known field has an impossible type.
    pub fn read(raw: &'a RawValue) -> Result<Self, serde_json::Error> {
        let raw = raw.get();
        let fields: Fields<'a> = serde_json::from_str(raw)?;
        let plain_text = fields.only_text && fields.text.is_some();
        let kind = if let Some(call) = fields.call {
            PartKind::Call(call)
        } else if fields.thought && matches!(fields.kind, PartKind::Empty | PartKind::Bare) {
            PartKind::Thought(fields.text.unwrap_or_default())
        } else if let Some(text) = fields.text {
            PartKind::Text(text)
        } else {
            fields.kind
        };
        Ok(Self { kind, raw, plain_text })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'a RawValue>::deserialize(deserializer)?;
        Self::read(raw).map_err(D::Error::custom)
    }
}

struct Fields<'a> {
    text: Option<Cow<'a, str>>,
    thought: bool,
    call: Option<CallFragment<'a>>,
    kind: PartKind<'a>,
    only_text: bool,
}

/// A string that borrows from the JSON where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;
        impl<'de> Visitor<'de> for PartVisitor {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a part")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Fields {
                    text: None,
                    thought: false,
                    call: None,
                    kind: PartKind::Empty,
                    only_text: true,
                };
                while let Some(Text(key)) = map.next_key()? {
                    if key == "text" {
                        fields.text = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0);
                        continue;
                    }
                    fields.only_text = false;
                    let kind = match &*key {
                        "thought" => {
                            fields.thought = map.next_value::<Option<bool>>()?.unwrap_or(false);
                            continue;
                        }
                        "functionCall" => {
                            let raw: &RawValue = map.next_value()?;
                            fields.call =
                                serde_json::from_str(raw.get()).map_err(A::Error::custom)?;
                            continue;
                        }
                        "executableCode" => PartKind::ExecutableCode,
                        "codeExecutionResult" => PartKind::CodeResult,
                        "inlineData" | "fileData" => PartKind::Media,
                        // Siblings of the data, not data.
                        "thoughtSignature" | "partMetadata" | "videoMetadata" => {
                            map.next_value::<IgnoredAny>()?;
                            if matches!(fields.kind, PartKind::Empty) {
                                fields.kind = PartKind::Bare;
                            }
                            continue;
                        }
                        _ => PartKind::Other,
                    };
                    map.next_value::<IgnoredAny>()?;
                    fields.kind = kind;
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(PartVisitor)
    }
}
