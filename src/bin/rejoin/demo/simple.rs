//! Two clients as they are commonly written, run against the same server as Rejoin: honest models
//! of the policies, with nothing canned.
//!
//! Both send their request again when a stream breaks, and run a tool call as soon as it is there.
//! The *naive* one appends whatever comes; the other one *resets* its text on a retry, and gives
//! the provider's call id to the payment service as a key.

use super::outcome::{Cost, Outcome};
use rejoin::turn::Billing;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Requests before such a client gives up.
const MAX_REQUESTS: usize = 4;
/// Longer than any pause of a story.
const SILENCE: Duration = Duration::from_secs(20);

/// What happens to the text on a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Naive,
    Resets,
}

/// A call that a client saw, in the order of arrival.
#[derive(Debug, Clone)]
pub struct SeenCall {
    pub id: Option<String>,
    pub name: String,
    pub args: Value,
}

pub struct Simple {
    kind: Kind,
    http: reqwest::Client,
    url: String,
    body: String,
    pause: Duration,
    outcome: Outcome,
    pub calls: Vec<SeenCall>,
}

/// How an attempt ended.
enum End {
    Whole,
    Broken(String),
}

impl Simple {
    /// `base`: the server; `pause`: between a failure and the next request.
    pub fn new(kind: Kind, base: &str, body: String, pause: Duration) -> Result<Self, String> {
        let name = match kind {
            Kind::Naive => "naive",
            Kind::Resets => "resets",
        };
        Ok(Self {
            kind,
            http: http()?,
            url: format!("{base}/v1beta/models/m:streamGenerateContent?alt=sse"),
            body,
            pause,
            outcome: Outcome::new(name),
            calls: Vec::new(),
        })
    }

    pub async fn run(mut self) -> (Outcome, Vec<SeenCall>) {
        for n in 1..=MAX_REQUESTS {
            match self.attempt().await {
                End::Whole => break,
                End::Broken(why) if n == MAX_REQUESTS => self.outcome.gave_up = Some(why),
                End::Broken(_) => tokio::time::sleep(self.pause).await,
            }
        }
        (self.outcome, self.calls)
    }

    async fn attempt(&mut self) -> End {
        if self.kind == Kind::Resets {
            self.outcome.taken_back += self.outcome.text.chars().count();
            self.outcome.text.clear();
        }
        self.outcome.seam = self.outcome.text.len();
        self.outcome.stray = self.outcome.seam > 0;
        let request = self.http.post(&self.url).header("content-type", "application/json");
        let mut response = match request.body(self.body.clone()).send().await {
            Ok(response) if response.status().is_success() => response,
            Ok(response) => {
                self.cost(Billing::NotBilled, None);
                return End::Broken(format!("HTTP {}", response.status().as_u16()));
            }
            Err(error) => {
                let sent = !error.is_connect();
                self.cost(if sent { Billing::Unknown } else { Billing::NotSent }, None);
                return End::Broken("unreachable".to_owned());
            }
        };
        let (mut buffer, mut usage) = (Vec::new(), None);
        let end = loop {
            match response.chunk().await {
                Ok(Some(bytes)) => buffer.extend_from_slice(&bytes),
                Ok(None) => break End::Whole,
                Err(_) => break End::Broken("the stream broke".to_owned()),
            }
            while let Some(at) = buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=at).collect();
                if let Some(event) = event(&line) {
                    usage = event.get("usageMetadata").cloned().or(usage);
                    self.take(&event);
                }
            }
        };
        let billing = match (&end, &usage) {
            (_, None) => Billing::Unknown,
            (End::Whole, _) => Billing::Known,
            (End::Broken(_), _) => Billing::LowerBound,
        };
        self.cost(billing, usage.as_ref());
        end
    }

    fn take(&mut self, event: &Value) {
        let parts = event.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            if part["thought"] == true {
                continue;
            }
            if let Some(text) = part["text"].as_str() {
                self.outcome.text.push_str(text);
            }
            if let Some(call) = part.get("functionCall") {
                self.run_at_once(call);
            }
        }
    }

    /// The mistake that this demo is about.
    fn run_at_once(&mut self, call: &Value) {
        let id = call["id"].as_str();
        let key = if self.kind == Kind::Resets { id } else { None };
        self.outcome.payments.refund(key);
        self.calls.push(SeenCall {
            id: id.map(ToOwned::to_owned),
            name: call["name"].as_str().unwrap_or_default().to_owned(),
            args: call["args"].clone(),
        });
    }

    fn cost(&mut self, billing: Billing, usage: Option<&Value>) {
        let count = |name: &str| usage.and_then(|usage| usage[name].as_u64());
        let output = match (count("candidatesTokenCount"), count("thoughtsTokenCount")) {
            (None, None) => None,
            (answer, thoughts) => Some(answer.unwrap_or(0) + thoughts.unwrap_or(0)),
        };
        self.outcome.costs.push(Cost { billing, input: count("promptTokenCount"), output });
    }
}

fn event(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line.strip_prefix(b"data:")?).ok()
}

/// A client for loopback: it needs no roots, but reqwest needs to be told so.
fn http() -> Result<reqwest::Client, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .retry(reqwest::retry::never())
        .read_timeout(SILENCE)
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())
}
