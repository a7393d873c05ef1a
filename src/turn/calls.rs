//! The function calls of an attempt: put together, counted once, held.

use super::units::Json;
use crate::gemini::{ArgsError, CallFragment, StreamedArgs};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt::Write as _;

/// A call that is whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    pub name: String,
    pub provider_id: Option<String>,
    pub args: Json,
}

/// What a fragment did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CallStep {
    /// A call has been seen for the first time: whole, or the first fragment of one.
    Seen { name: String, whole: bool },
    /// The open call goes on.
    More,
    /// The open call is whole now; `part` is what the history holds in its place.
    Closed { part: String },
    /// A call with an id that is known already, or a terminator that ends nothing.
    Ignored,
}

/// A call that makes no sense: its attempt cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("a function call has no name")]
    NoName,
    #[error("the arguments of a function call are not an object")]
    ArgsNotAnObject,
    #[error("a function call began before the arguments of {0:?} were whole")]
    Unterminated(String),
    #[error("the call of {0:?} ended before its arguments did")]
    OpenArgs(String),
    #[error(transparent)]
    Args(#[from] ArgsError),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct OpenCall {
    name: String,
    provider_id: Option<String>,
    args: StreamedArgs,
    signature: Option<String>,
}

/// The calls of one chain of attempts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Calls {
    whole: Vec<Call>,
    open: Option<OpenCall>,
    /// Calls of earlier attempts: an id is one call only within its own attempt.
    earlier: usize,
}

/// How the calls stood at the server's checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CallsMark {
    whole: usize,
    open: Option<OpenCall>,
}

impl Calls {
    pub(crate) fn mark(&self) -> CallsMark {
        CallsMark { whole: self.whole.len(), open: self.open.clone() }
    }

    /// Back to the checkpoint, for the next attempt.
    pub(crate) fn resumed(mut self, mark: &CallsMark) -> Self {
        self.whole.truncate(mark.whole);
        Self { earlier: self.whole.len(), open: mark.open.clone(), whole: self.whole }
    }

    pub(crate) fn whole(&self) -> &[Call] {
        &self.whole
    }

    /// The name of a call whose arguments have not ended.
    pub(crate) fn open_name(&self) -> Option<&str> {
        self.open.as_ref().map(|open| open.name.as_str())
    }

    pub(crate) fn take(
        &mut self,
        fragment: &CallFragment<'_>,
        raw_part: &str,
    ) -> Result<CallStep, CallError> {
        let id = fragment.id.as_deref().filter(|id| !id.is_empty());
        if let Some(open) = &mut self.open {
            let same_id = id.is_none() || id == open.provider_id.as_deref();
            let new_name = fragment.name.as_deref().is_some_and(|name| name != open.name);
            if new_name || !same_id || fragment.args.is_some() {
                return Err(CallError::Unterminated(open.name.clone()));
            }
            for arg in fragment.partial_args.iter().flatten() {
                open.args.push(arg)?;
            }
            open.signature = open.signature.take().or_else(|| signature_of(raw_part));
            return if fragment.will_continue == Some(true) {
                Ok(CallStep::More)
            } else {
                self.close()
            };
        }
        if fragment.is_terminator() {
            return Ok(CallStep::Ignored);
        }
        if id.is_some()
            && self.whole[self.earlier..].iter().any(|call| call.provider_id.as_deref() == id)
        {
            return Ok(CallStep::Ignored);
        }
        let name = fragment.name.as_deref().filter(|name| !name.is_empty());
        let name = name.ok_or(CallError::NoName)?.to_owned();
        let provider_id = id.map(str::to_owned);
        if fragment.will_continue == Some(true) || fragment.partial_args.is_some() {
            let mut args = StreamedArgs::default();
            for arg in fragment.partial_args.iter().flatten() {
                args.push(arg)?;
            }
            let signature = signature_of(raw_part);
            self.open = Some(OpenCall { name: name.clone(), provider_id, args, signature });
            if fragment.will_continue != Some(true) {
                self.close()?;
                return Ok(CallStep::Seen { name, whole: true });
            }
            return Ok(CallStep::Seen { name, whole: false });
        }
        let args = match fragment.args.map(RawValue::get) {
            None | Some("null") => "{}",
            Some(args) if args.starts_with('{') => args,
            Some(_) => return Err(CallError::ArgsNotAnObject),
        };
        let args = Json::trusted(args.to_owned());
        self.whole.push(Call { name: name.clone(), provider_id, args });
        Ok(CallStep::Seen { name, whole: true })
    }

    fn close(&mut self) -> Result<CallStep, CallError> {
        let Some(open) = self.open.take() else { return Ok(CallStep::Ignored) };
        if open.args.is_open() {
            return Err(CallError::OpenArgs(open.name));
        }
        let call = Call {
            name: open.name,
            provider_id: open.provider_id,
            args: Json::trusted(open.args.to_json()),
        };
        let part = assembled_part(&call, open.signature.as_deref());
        self.whole.push(call);
        Ok(CallStep::Closed { part })
    }
}

/// A streamed call as one part: the API takes no fragments back.
pub(crate) fn assembled_part(call: &Call, signature: Option<&str>) -> String {
    let text = |value: &str| serde_json::Value::from(value).to_string();
    let mut part = String::from("{\"functionCall\":{");
    if let Some(id) = &call.provider_id {
        let _ = write!(part, "\"id\":{},", text(id));
    }
    let _ = write!(part, "\"name\":{},\"args\":{}}}", text(&call.name), call.args.as_str());
    if let Some(signature) = signature {
        let _ = write!(part, ",\"thoughtSignature\":{}", text(signature));
    }
    part.push('}');
    part
}

fn signature_of(raw_part: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Signed {
        thought_signature: Option<String>,
    }
    serde_json::from_str::<Signed>(raw_part).ok()?.thought_signature
}
