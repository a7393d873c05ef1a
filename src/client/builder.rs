//! The client: what all turns of an app share.

use super::driver::{Driver, DriverParts};
use super::handle::TurnHandle;
use super::headers::{HeaderProvider, insert, secrets_of};
use super::journal::Hand;
use super::log::EventLog;
use super::purse::Purse;
use super::request::TurnRequest;
use super::runtime::runtime;
use super::url::{BaseUrl, PlainHttp, is_model_name};
use super::{exchange::Transport, tls};
use crate::recorder::Recorder;
use crate::turn::{Budget, Policy, PolicyError, Spend, Turn, TurnSetup};
use http::HeaderMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;

/// Google's own endpoint.
const GEMINI: &str = "https://generativelanguage.googleapis.com";

/// A client that cannot be built, or a turn that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The base URL is of no use.
    #[error("the base URL cannot be used: {0}")]
    BaseUrl(String),
    /// A header cannot be sent.
    #[error("the header {0:?} has a name or value that cannot be sent")]
    Header(String),
    /// A root certificate cannot be read.
    #[error("an extra root certificate cannot be used: {0}")]
    Root(String),
    /// The policy makes no sense.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The model's name cannot stand in a URL.
    #[error("{0:?} is not the name of a model, such as `gemini-2.5-flash`")]
    Model(String),
    /// A turn of this id runs already, and two cannot share a place in the journal.
    #[error("a turn with the id {0:?} runs already")]
    TurnRuns(String),
    /// The platform refused threads or sockets.
    #[error("the network could not be set up: {0}")]
    Platform(String),
}

/// Settings of a [`Client`].
#[derive(Clone, Default)]
pub struct ClientBuilder {
    base_url: Option<String>,
    api_key: Option<String>,
    headers: Vec<(String, String)>,
    provider: Option<Arc<dyn HeaderProvider>>,
    extra_roots: Vec<Vec<u8>>,
    policy: Policy,
    budget: Budget,
    plain_http: PlainHttp,
    #[cfg(feature = "journal")]
    journal: Option<super::Journal>,
}

impl ClientBuilder {
    /// Where requests go; Google's endpoint by default. `/v1beta` is added unless the URL has a
    /// version in its path, as Vertex's and Firebase's have.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The API key, sent as `x-goog-api-key`. It appears in no error, log or `Debug`.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// A header for every attempt. Its value counts as a secret.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Lets requests go to another machine without TLS, such as a flaky server from an emulator.
    /// Whoever is on the way can read the key then. Loopback needs no permission.
    #[must_use]
    pub fn allow_plain_http(mut self) -> Self {
        self.plain_http = PlainHttp::Anywhere;
        self
    }

    /// Headers that are asked for before each attempt.
    #[must_use]
    pub fn header_provider(mut self, provider: Arc<dyn HeaderProvider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// A further root certificate (PEM), beside the built-in ones.
    #[must_use]
    pub fn extra_root_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.extra_roots.push(pem.into());
        self
    }

    /// The policy of all turns that bring none of their own.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// What all turns of this client together may cost. Looked at before each attempt; once it is
    /// used up, a turn fails as `spend_used_up` with what it has, and a new one sends nothing.
    /// Money needs `input_price` and `output_price` in the policies of its turns.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Keeps all turns in a journal, so that they can be restored when the process has died. A
    /// request then waits for its own record to be on the disk, some milliseconds as a rule and
    /// 250 at most.
    #[cfg(feature = "journal")]
    #[must_use]
    pub fn journal(mut self, journal: super::Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    /// [`BuildError`] for settings that cannot be used. Nothing is sent.
    pub fn build(self) -> Result<Client, BuildError> {
        let url = self.base_url.as_deref().unwrap_or(GEMINI);
        let base_url = BaseUrl::parse(url, self.plain_http).map_err(BuildError::BaseUrl)?;
        let policy = self.policy.validated()?;
        let mut headers = HeaderMap::new();
        let mut secrets = Vec::new();
        let key = self.api_key.map(|key| ("x-goog-api-key".to_owned(), key));
        for (name, value) in key.into_iter().chain(self.headers) {
            insert(&mut headers, &name, &value).ok_or_else(|| BuildError::Header(name.clone()))?;
            secrets.extend(secrets_of(&value));
        }
        let tls = tls::config(&self.extra_roots).map_err(BuildError::Root)?;
        let transport =
            Transport::new(tls, policy.connect_timeout()).map_err(BuildError::Platform)?;
        let shared = Shared {
            base_url,
            headers,
            provider: self.provider,
            transport,
            purse: Purse::new(self.budget),
            secrets,
            policy,
            #[cfg(feature = "journal")]
            journal: self.journal,
        };
        Ok(Client { shared: Arc::new(shared) })
    }
}

pub(super) struct Shared {
    pub base_url: BaseUrl,
    pub headers: HeaderMap,
    pub provider: Option<Arc<dyn HeaderProvider>>,
    pub transport: Transport,
    pub purse: Purse,
    pub secrets: Vec<String>,
    policy: Policy,
    #[cfg(feature = "journal")]
    pub journal: Option<super::Journal>,
}

/// Starts turns. Cheap to clone; all clones share connections. Use it from any thread, inside or
/// outside of any runtime.
#[derive(Clone)]
pub struct Client {
    pub(super) shared: Arc<Shared>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("base_url", &self.shared.base_url).finish_non_exhaustive()
    }
}

impl Client {
    /// Settings to build a client from.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// What the attempts of all turns of this client have cost so far, as far as anybody can know.
    #[must_use]
    pub fn spent(&self) -> Spend {
        self.shared.purse.spent()
    }

    /// Starts a turn. A body that cannot be recovered is no error here: the turn's only event is
    /// `failed` with kind `invalid_argument`, and nothing is sent.
    ///
    /// # Errors
    /// [`BuildError`] for a model's name or a policy that cannot be used.
    pub fn start(&self, request: TurnRequest) -> Result<TurnHandle, BuildError> {
        if !is_model_name(&request.model) {
            return Err(BuildError::Model(request.model));
        }
        let policy = match request.policy {
            Some(policy) => policy.validated()?,
            None => self.shared.policy.clone(),
        };
        let turn_id = request.turn_id.unwrap_or_else(random_id);
        let setup = TurnSetup {
            turn_id: turn_id.clone(),
            body: request.body,
            policy,
            tools: request.tools,
            step: request.step,
            seed: random(),
            budget: self.shared.purse.left_for(&Spend::default()).unwrap_or_default(),
            secrets: self.shared.secrets.clone(),
        };
        let recorder = request.record.map(|keep| Recorder::new(&setup, keep));
        let turn = Turn::new(setup);
        #[cfg(not(feature = "journal"))]
        let journal = Hand::default();
        #[cfg(feature = "journal")]
        let journal = match &self.shared.journal {
            Some(journal) => {
                let claim = journal.claim(&turn_id);
                let claim = claim.ok_or_else(|| BuildError::TurnRuns(turn_id.clone()))?;
                Hand::new(journal, claim, &request.model, true)
            }
            None => Hand::default(),
        };
        self.drive(turn, recorder, turn_id, request.model, journal)
    }

    /// Lets a turn run that has not started.
    pub(super) fn drive(
        &self,
        turn: Turn,
        recorder: Option<Recorder>,
        turn_id: String,
        model: String,
        journal: Hand,
    ) -> Result<TurnHandle, BuildError> {
        let runtime = runtime().map_err(BuildError::Platform)?;
        let log = EventLog::default();
        let (commands, receiver) = tokio::sync::mpsc::unbounded_channel();
        let turn_id: Arc<str> = turn_id.into();
        let Hand { pen, error } = journal;
        let parts = DriverParts {
            shared: self.shared.clone(),
            model,
            turn_id: turn_id.clone(),
            log: log.clone(),
            pen,
        };
        runtime.spawn(Driver::new(turn, recorder, parts, receiver).run());
        Ok(TurnHandle { turn_id, log, commands, journal_error: error })
    }
}

/// Random without a crate for it: the standard library seeds its hashers from the system.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn random_id() -> String {
    format!("turn-{:016x}{:016x}", random(), random())
}
