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
    Advise(AdviseArgs),
    Replay(ReplayArgs),
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
    /// Write the turn's inputs to this file, for `rejoin replay`; words become filler of the same
    /// shape, keys are left out
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Keep the texts in that file as they are
    #[arg(long, requires = "record")]
    pub record_text: bool,
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
    /// Let requests go to another machine over plain http: whoever is on the way reads the key
    #[arg(long)]
    pub allow_plain_http: bool,
    /// The environment variable that holds the API key; where it is not set, no key is sent
    #[arg(long, value_name = "NAME", default_value = "GEMINI_API_KEY")]
    pub api_key_env: String,
    /// A header for every attempt; may be given several times
    #[arg(long = "header", value_name = "K=V", value_parser = pair)]
    pub headers: Vec<(String, String)>,
}

/// How a turn is shown, what is kept of it, and what it is told.
#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// How to print events
    #[arg(long, value_enum, default_value_t = Events::Pretty)]
    pub events: Events,
    /// Append the turn's drops to this file, a line of JSON each, for `rejoin advise`: no text, no
    /// key is in them
    #[arg(long, value_name = "FILE")]
    pub drop_log: Option<PathBuf>,
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
  max_spend none                      backoff_max_ms 30000
  input_price none                    backoff_jitter 1.0 (0 makes waits exact)
  cached_price none                   offline_wait_ms 600000
  output_price none                   suspend_gap_ms 5000
  continue_temperature 0.4            seam_hold_chars 160
  max_event_bytes 33554432            seam_hold_ms 1500
  (prices: money for a million tokens)

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
/// request gets the k-th response of the script, the last one again after that. With --stories, a
/// request to /STORY/NETWORK/TURN/... gets the next response of the script of that name, on the
/// network of that name, from the first one for each new TURN.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("play").required(true).args(["script", "stories"]))]
pub struct ServeArgs {
    /// The script, a JSON file
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// A folder of scripts, to choose from by the path of a request; may be given several times.
    /// Scripts with `refuse_ms` are left out
    #[arg(long, value_name = "DIR", conflicts_with = "network")]
    pub stories: Vec<PathBuf>,
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Be as slow as a phone's network, by the Android emulator's names: gsm, gprs, edge, umts,
    /// lte, ...
    #[arg(long, value_name = "NAME")]
    pub network: Option<String>,
}

/// Play a recorded turn again: same inputs, same times, no network
///
/// A recording comes from `rejoin stream --record`, `Turn.recording()` in Kotlin or `recording()`
/// in Swift. Prints the events, and whether they are the recorded ones. Exit status: 0 they are,
/// 2 the recording cannot be read, 3 they are not.
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The recording; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How to print events
    #[arg(long, value_enum, default_value_t = Events::Pretty)]
    pub events: Events,
}

/// Read drop logs, and say from which R on continuing is worth it
///
/// A drop log holds one JSON object a line, as `rejoin stream --drop-log`, `Turn.dropLog()` in
/// Kotlin and `dropLog()` in Swift give them; lines of `--events jsonl` do as well, with less in
/// them. Continuing saves R x (output price - input price), R being the output tokens in hand at
/// the drop; against that stands a seam, whose price is an opinion.
#[derive(Debug, clap::Args)]
pub struct AdviseArgs {
    /// Drop logs; `-` reads standard input
    #[arg(required_unless_present = "simulate", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Money for a million input tokens. The default is Gemini 2.5 Flash's, in dollars
    #[arg(long, value_name = "MONEY", default_value_t = 0.30, value_parser = money)]
    pub input_price: f64,
    /// Money for a million output tokens. The default is Gemini 2.5 Flash's, in dollars
    #[arg(long, value_name = "MONEY", default_value_t = 2.50, value_parser = money)]
    pub output_price: f64,
    /// What a seam that a reader may notice is worth avoiding. Default: what 200 tokens save
    #[arg(long, value_name = "MONEY", value_parser = money)]
    pub seam_price: Option<f64>,
    /// What a second of a user's waiting is worth sparing
    #[arg(long, value_name = "MONEY", default_value_t = 0.0, value_parser = money)]
    pub second_price: f64,
    /// A threshold to look at, beside the usual ones
    #[arg(long, value_name = "TOKENS")]
    pub threshold: Option<u64>,
    /// Play seeded turns through trains, lifts and weak cells, and through drops like the log's,
    /// for Rejoin's gate, for other policies, and for an oracle that knows when drops come
    #[arg(long)]
    pub simulate: bool,
    /// Turns to play for each of them
    #[arg(long, value_name = "N", default_value_t = 5000, requires = "simulate",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub turns: u32,
    /// The same seed gives the same turns
    #[arg(long, value_name = "N", default_value_t = 1, requires = "simulate")]
    pub seed: u64,
    /// Write the same as one self-contained page with charts
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

fn money(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(money) if (0.0..=1e9).contains(&money) => Ok(money),
        _ => Err("give an amount that is not negative, such as 2.50".to_owned()),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give NAME=VALUE".to_owned()),
    }
}
