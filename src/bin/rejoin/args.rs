//! What can be typed.

use clap::{ArgGroup, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Streams a Gemini answer and keeps it one clean answer when the connection breaks.
///
/// Start with `rejoin demo`: it needs no key and no network.
#[derive(Debug, Parser)]
#[command(name = "rejoin", version, max_term_width = 100, after_help = EXITS)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

const EXITS: &str =
    "Exit status: 0 completed, 2 wrong usage (nothing was sent), 3 failed, 130 cancelled.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(DemoArgs),
    Stream(StreamArgs),
    Resume(ResumeArgs),
    ServeFlaky(ServeArgs),
    /// Print what a drop after the text on standard input would commit
    ///
    /// One JSON object: `committed` (null where nothing is safe to build on), `committed_utf16`,
    /// `estimated_tokens`, and `next_number` where the text stops in a numbered list.
    Checkpoint,
}

/// Watch a connection break, and what Rejoin makes of it
///
/// Plays a story against a flaky server inside this process: no key, no network. Then a table of
/// what two common clients made of the same server, and Rejoin: what was left on the screen, which
/// effects ran under which keys, and what each attempt cost. Without --scenario, plays the two
/// stories that Rejoin is about, in 15 seconds.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// The story to play
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    pub scenario: Option<String>,
    /// List the stories
    #[arg(long)]
    pub list: bool,
    /// So many times as fast: 0.5 is slow, 100 leaves no time to look
    #[arg(long, value_name = "TIMES", default_value_t = 1.0)]
    pub speed: f64,
}

/// Stream one turn from a server and print its events
///
/// The request goes to {base-url}/v1beta/models/{model}:streamGenerateContent?alt=sse; a base URL
/// that has a version in its path is used as it is. An interrupt (Ctrl-C) cancels the turn.
#[derive(Debug, clap::Args)]
#[command(after_help = STREAM_HELP, group = ArgGroup::new("ask").required(true).args(["prompt", "request"]))]
pub struct StreamArgs {
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub view: ViewArgs,
    /// The model, such as gemini-2.5-flash
    #[arg(long, value_name = "M")]
    pub model: String,
    /// What to ask
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// A `GenerateContent` body, sent as it is; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "system")]
    pub request: Option<PathBuf>,
    /// A system instruction beside the prompt
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// The turn's id: part of every effect key. Random by default
    #[arg(long, value_name = "ID")]
    pub turn_id: Option<String>,
    /// Keep the turn in this folder, so that `rejoin resume` can go on with it after a crash
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,
    /// Keep all that is said out of the journal: to resume, the answer begins anew
    #[arg(long, requires = "journal")]
    pub journal_without_text: bool,
    /// A field of the policy; may be given several times, and wins over --policy
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
    /// A JSON file with fields of the policy
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// Go on with a turn that was streamed with --journal and did not come to its end
///
/// Shows what was there at once, then goes on as after any drop. A turn that was over is told again,
/// and nothing is sent. Policy, model and turn id are the turn's own.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS, group = ArgGroup::new("again").args(["prompt", "request"]))]
pub struct ResumeArgs {
    /// The folder that the turn was kept in
    #[arg(long, value_name = "DIR")]
    pub journal: PathBuf,
    /// The turn's id
    #[arg(long, value_name = "ID")]
    pub turn_id: String,
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub view: ViewArgs,
    /// The prompt once more, for a turn whose text was kept out of the journal
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// The body once more, likewise; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "system")]
    pub request: Option<PathBuf>,
    /// The system instruction once more, likewise
    #[arg(long, value_name = "TEXT", requires = "prompt")]
    pub system: Option<String>,
}

/// Where requests go, and with which headers.
#[derive(Debug, clap::Args)]
pub struct ServerArgs {
    /// Where requests go
    #[arg(long, value_name = "URL", default_value = "https://generativelanguage.googleapis.com")]
    pub base_url: String,
    /// The environment variable that holds the API key; where it is not set, no key is sent
    #[arg(long, value_name = "NAME", default_value = "GEMINI_API_KEY")]
    pub api_key_env: String,
    /// A header for every attempt; may be given several times
    #[arg(long = "header", value_name = "K=V", value_parser = pair)]
    pub headers: Vec<(String, String)>,
}

/// How a turn is shown, and what it is told.
#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// How to print events
    #[arg(long, value_enum, default_value_t = Events::Pretty)]
    pub events: Events,
    /// Read signals of the device from standard input, a line each: `network_lost`,
    /// `network_available`, `network_changed` (also with `metered` or `unmetered` behind it),
    /// `will_suspend`, `resumed`, `cancel`
    #[arg(long)]
    pub control: bool,
}

const STREAM_HELP: &str = "\
Examples:
  rejoin stream --model gemini-2.5-flash --prompt 'Write about bees.'
  rejoin stream --model m --base-url http://127.0.0.1:8080 --request body.json --events jsonl
  rejoin stream --model m --prompt hi --set min_continue_tokens=100 --set max_attempts=6
  rejoin stream --model m --prompt hi --journal turns --turn-id t-1   # and, after a crash:
  rejoin resume --journal turns --turn-id t-1

Policy fields and their defaults:
  min_continue_tokens 200             connect_timeout_ms 10000
  deep_thinking_tokens 1024           first_byte_timeout_ms 120000
  max_attempts 4                      idle_timeout_ms 45000
  max_unsent 8                        finish_grace_ms 3000
  stream_drops_before_fallback 2      non_streaming_timeout_ms 180000
  max_output_spend_tokens none        backoff_base_ms 500
  continue_temperature 0.4            backoff_max_ms 30000
  seam_hold_chars 160                 backoff_jitter 1.0 (0 makes waits exact)
  seam_hold_ms 1500                   offline_wait_ms 600000
  max_event_bytes 33554432            suspend_gap_ms 5000

Exit status: 0 completed, 2 wrong usage (nothing was sent), 3 failed, 130 cancelled.";

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Events {
    /// The answer as it comes, and a line for whatever happens to it
    Pretty,
    /// One JSON object a line, flushed one by one
    Jsonl,
}

/// Play a fault script: a Gemini server that breaks as told
///
/// Prints `listening on http://ADDR` when it is up, then serves until it is interrupted. The k-th
/// request gets the k-th response of the script, the last one again after that.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The script, a JSON file
    #[arg(long, value_name = "FILE")]
    pub script: PathBuf,
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Be as slow as a phone's network, by the Android emulator's names: gsm, gprs, edge, umts,
    /// lte, ...
    #[arg(long, value_name = "NAME")]
    pub network: Option<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give NAME=VALUE".to_owned()),
    }
}
