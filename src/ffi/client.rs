//! The client object.

use super::error::{CallError, HeaderError};
use super::guard::guard;
use super::journal::{JournalConfig, JournaledTurn, open};
use super::policy::Policy;
use super::request::TurnRequest;
use super::spend::{Budget, Spend};
use super::turn::NativeTurn;
use crate::client::{self, Client, ProviderError};
use crate::turn as core;
use std::collections::HashMap;
use std::sync::Arc;

/// Settings of a client. Holds secrets: do not print it.
#[derive(Clone, Default, uniffi::Record)]
pub struct ClientSettings {
    /// Where requests go; Google's endpoint by default. `/v1beta` is added unless the URL has a
    /// version in its path.
    #[uniffi(default = None)]
    pub base_url: Option<String>,
    /// The API key, sent as `x-goog-api-key`. It appears in no event and no error.
    #[uniffi(default = None)]
    pub api_key: Option<String>,
    /// Headers for every attempt. Their values count as secrets.
    #[uniffi(default)]
    pub headers: HashMap<String, String>,
    /// Further root certificates (PEM), beside the built-in ones.
    #[uniffi(default = [])]
    pub extra_root_pems: Vec<String>,
    /// The policy of all turns.
    #[uniffi(default = None)]
    pub policy: Option<Policy>,
    /// What all turns together may cost.
    #[uniffi(default = None)]
    pub budget: Option<Budget>,
    /// Lets requests go to another machine than this one without TLS. Whoever is on the way can
    /// read the key then.
    #[uniffi(default = false)]
    pub allow_plain_http: bool,
    /// Where turns are kept, so that they survive the process; absent: nowhere.
    #[uniffi(default = None)]
    pub journal: Option<JournalConfig>,
}

/// Gives the headers of each attempt anew: App Check and OAuth tokens expire between attempts.
///
/// Called on a thread of the library that may block, never on the main thread.
#[uniffi::export(callback_interface)]
pub trait HeaderProvider: Send + Sync {
    /// The headers of an attempt, by number from 1. Values count as secrets.
    fn headers(&self, attempt: i32) -> Result<HashMap<String, String>, HeaderError>;
}

struct Provider(Box<dyn HeaderProvider>);

impl client::HeaderProvider for Provider {
    fn headers(&self, attempt: u32) -> Result<Vec<(String, String)>, ProviderError> {
        let headers = self.0.headers(super::convert::int(attempt));
        headers
            .map(|headers| headers.into_iter().collect())
            .map_err(|error| ProviderError(error.to_string()))
    }
}

/// Starts turns. Keep one for the app: its turns share connections. Safe to use from any thread.
#[derive(Debug, uniffi::Object)]
pub struct NativeClient {
    client: Client,
    policy: core::Policy,
}

#[uniffi::export]
impl NativeClient {
    /// Builds a client. Nothing is sent.
    #[uniffi::constructor(default(headers = None))]
    pub fn new(
        settings: ClientSettings,
        headers: Option<Box<dyn HeaderProvider>>,
    ) -> Result<Arc<Self>, CallError> {
        guard(|| {
            let policy = settings.policy.unwrap_or_default().over(&core::Policy::default())?;
            let mut builder = Client::builder().policy(policy.clone());
            if let Some(url) = settings.base_url {
                builder = builder.base_url(url);
            }
            if settings.allow_plain_http {
                builder = builder.allow_plain_http();
            }
            if let Some(key) = settings.api_key {
                builder = builder.api_key(key);
            }
            for (name, value) in settings.headers {
                builder = builder.header(name, value);
            }
            for pem in settings.extra_root_pems {
                builder = builder.extra_root_pem(pem);
            }
            if let Some(budget) = settings.budget {
                builder = builder.budget(budget.to_core()?);
            }
            if let Some(headers) = headers {
                builder = builder.header_provider(Arc::new(Provider(headers)));
            }
            if let Some(journal) = settings.journal {
                builder = builder.journal(open(&journal)?);
            }
            Ok(Arc::new(Self { client: builder.build()?, policy }))
        })
    }

    /// What the attempts of all turns of this client have cost so far.
    pub fn spent(&self) -> Result<Spend, CallError> {
        guard(|| Ok((&self.client.spent()).into()))
    }

    /// Starts a turn; returns at once. A body that cannot be recovered is no error here: the
    /// turn's only event is `Failed` with `InvalidArgument`.
    pub fn start(&self, request: TurnRequest) -> Result<Arc<NativeTurn>, CallError> {
        guard(|| {
            let handle = self.client.start(request.to_core(&self.policy)?)?;
            Ok(Arc::new(NativeTurn::new(handle, request.read_only_tools())))
        })
    }

    /// Goes on with a turn of the journal that another process began: what was there is shown at
    /// once. A turn that was over tells its end again, and nothing is sent. Reads a file, which
    /// takes some milliseconds: not for the main thread.
    ///
    /// `request` is needed where the journal keeps no text, and says which tools are read only.
    #[uniffi::method(default(request = None))]
    pub fn restore(
        &self,
        turn_id: String,
        request: Option<TurnRequest>,
    ) -> Result<Arc<NativeTurn>, CallError> {
        guard(|| {
            let read_only = request.as_ref().map(TurnRequest::read_only_tools).unwrap_or_default();
            let handle = match request {
                Some(request) => {
                    self.client.restore_with_request(&turn_id, &request.to_core(&self.policy)?)?
                }
                None => self.client.restore(&turn_id)?,
            };
            Ok(Arc::new(NativeTurn::new(handle, read_only)))
        })
    }

    /// The turns of the journal, the one written last first; none without a journal. Reads a file.
    pub fn journaled(&self) -> Result<Vec<JournaledTurn>, CallError> {
        guard(|| {
            let Some(journal) = self.client.journal() else { return Ok(Vec::new()) };
            Ok(journal.turns()?.into_iter().map(Into::into).collect())
        })
    }

    /// Forgets a turn of the journal. Writes a file.
    pub fn forget(&self, turn_id: String) -> Result<(), CallError> {
        guard(|| Ok(self.client.journal().map_or(Ok(()), |journal| journal.forget(&turn_id))?))
    }

    /// The new name of a journal's file that could not be read when this client was built, if there
    /// was one: its turns are lost to the app.
    pub fn journal_set_aside(&self) -> Result<Option<String>, CallError> {
        guard(|| {
            let aside = self.client.journal().and_then(client::Journal::set_aside);
            Ok(aside.map(|path| path.to_string_lossy().into_owned()))
        })
    }
}
