//! The stories that the demo can tell. What the server does is data: fault scripts, which
//! `rejoin serve-flaky` plays as well.

use rejoin::testkit::Script;

/// A story.
pub struct Scenario {
    pub name: &'static str,
    /// A line for `--list`.
    pub line: &'static str,
    script: &'static str,
    /// The same server to a client that only ever sends its first request again, where that gets
    /// another answer than Rejoin's requests do.
    again: Option<&'static str>,
    /// The device's network as the story goes.
    pub network: Option<Outage>,
    /// Show how Rejoin asked for the rest.
    pub show_instruction: bool,
}

/// The device tells that its network is lost, and that it is back.
#[derive(Debug, Clone, Copy)]
pub struct Outage {
    /// Lost as soon as this is on the screen: a little before the connection breaks.
    pub when_shown: &'static str,
    /// Back after so long, in milliseconds.
    pub for_ms: u64,
}

/// What is played when no name is given.
pub const DEFAULT: [&str; 2] = ["refund-twice", "tunnel"];

macro_rules! script {
    ($name:literal) => {
        include_str!(concat!($name, ".json"))
    };
}

const fn told(name: &'static str, line: &'static str, script: &'static str) -> Scenario {
    Scenario { name, line, script, again: None, network: None, show_instruction: false }
}

impl Scenario {
    const fn with_again(self, again: &'static str) -> Self {
        Self { again: Some(again), ..self }
    }

    /// What the server does.
    pub fn script(&self) -> Result<Script, String> {
        parse(self.name, self.script)
    }

    /// What it does to a client that sends the same request again.
    pub fn script_again(&self) -> Result<Script, String> {
        parse(self.name, self.again.unwrap_or(self.script))
    }
}

fn parse(name: &str, text: &str) -> Result<Script, String> {
    Script::parse(text).map_err(|error| format!("the demo's own script {name} is broken: {error}"))
}

pub const SCENARIOS: [Scenario; 11] = [
    told(
        "refund-twice",
        "a refund is called for, then the line dies: pay once",
        script!("refund-twice"),
    ),
    told("tunnel", "a long answer breaks off, and goes on where it was", script!("tunnel"))
        .with_again(script!("again/tunnel")),
    told("restart", "a short answer drops early and is begun again", script!("restart")),
    told("continue", "a long answer drops, and no token count ever came", script!("continue"))
        .with_again(script!("again/continue")),
    Scenario {
        show_instruction: true,
        ..told(
            "list-renumbered",
            "the drop comes in a numbered list; the numbers go on",
            script!("list-renumbered"),
        )
        .with_again(script!("again/list-renumbered"))
    },
    told("schema", "half a JSON object is never continued", script!("schema")),
    told(
        "second-drop",
        "the line does not hold: the third attempt is no stream",
        script!("second-drop"),
    ),
    told("quota", "the day's quota is used up: no retry cures that", script!("quota")),
    Scenario {
        network: Some(Outage { when_shown: "nothing to see but", for_ms: 3000 }),
        ..told(
            "offline-then-online",
            "the network goes away; the retry waits for it",
            script!("offline-then-online"),
        )
        .with_again(script!("again/offline-then-online"))
    },
    told("resume", "with the server's own token, the same answer goes on", script!("resume"))
        .with_again(script!("again/resume")),
    told(
        "silent-restart",
        "asked for the rest, the model begins all over again",
        script!("silent-restart"),
    )
    .with_again(script!("again/silent-restart")),
];

/// The story of this name.
pub fn find(name: &str) -> Result<&'static Scenario, String> {
    SCENARIOS.iter().find(|scenario| scenario.name == name).ok_or_else(|| {
        let names: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        format!("no scenario is named {name:?}; there are {}", names.join(", "))
    })
}
