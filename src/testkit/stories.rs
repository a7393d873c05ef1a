//! Many scripts behind one address, for an app whose user chooses.
//!
//! A request to `/STORY/NETWORK/TURN/...` is answered by the script of that name, on the network
//! of that name. Each TURN begins its script anew, so that a story can be asked for again and
//! again; the retries of a turn, which go to the same base URL, get the responses in line.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::line::Shared;
use super::response::Response;
use super::script::Script;
use super::throttle::Throttle;

/// How many turns are remembered; then all are forgotten, and begin anew.
const MOST_TURNS: usize = 1000;

/// The scripts and the turns that play them.
#[derive(Debug)]
pub(crate) struct Stories {
    scripts: BTreeMap<String, Vec<Response>>,
    turns: Mutex<HashMap<String, Arc<Shared>>>,
}

impl Stories {
    /// Stories by the names of their scripts. One server cannot stop listening for one of them:
    /// `refuse_ms` is refused.
    pub(crate) fn new(scripts: &[Script]) -> Result<Self, String> {
        let refuses = |script: &Script| script.server.iter().any(|r| r.refuse_ms.is_some());
        if let Some(script) = scripts.iter().find(|script| refuses(script)) {
            return Err(format!("{}: `refuse_ms` needs a server of its own", script.name));
        }
        let scripts = scripts.iter().map(|script| (script.name.clone(), script.server.clone()));
        Ok(Self { scripts: scripts.collect(), turns: Mutex::default() })
    }

    /// What answers a request to this path, if it names a story and a network.
    pub(crate) fn turn(&self, path: &str) -> Option<Arc<Shared>> {
        let mut names = path.trim_start_matches('/').splitn(4, '/');
        let (story, network, turn) = (names.next()?, names.next()?, names.next()?);
        let responses = self.scripts.get(story)?;
        let throttle = Throttle::named(network)?;
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= MOST_TURNS {
            turns.clear();
        }
        let begun = turns.entry(format!("{story}/{network}/{turn}"));
        Some(Arc::clone(
            begun.or_insert_with(|| Arc::new(Shared::open(responses.clone(), throttle))),
        ))
    }

    /// What there is, for whoever asked for something else.
    pub(crate) fn names(&self) -> String {
        self.scripts.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}
