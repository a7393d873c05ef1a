//! `demo`: every story, fast, and the numbers of its table.

use super::play::play;
use super::support::{Ran, command, rejoin};
use rejoin::testkit::Script;
use std::path::PathBuf;
use std::process::Stdio;

fn told(name: &str) -> Ran {
    let ran = rejoin(&["demo", "--speed", "100", "--scenario", name]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}: {}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "{name}: escape codes in a pipe");
    ran
}

/// A client's row of the table, with single spaces.
fn row(ran: &Ran, client: &str) -> String {
    let mut table = ran.out.lines().skip_while(|line| !line.starts_with("client "));
    let line = table.find(|line| line.starts_with(&format!("{client} ")));
    let line = line.unwrap_or_else(|| panic!("no row for {client} in:\n{}", ran.out));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each client's row begins like this.
fn rows_begin(name: &str, rows: [&str; 3]) -> Ran {
    let ran = told(name);
    for (client, row_begins) in ["naive", "resets", "Rejoin"].into_iter().zip(rows) {
        let row = row(&ran, client);
        let wanted = format!("{client} {row_begins}");
        assert!(row.starts_with(&wanted), "{name}: {row:?} does not begin with {wanted:?}");
    }
    ran
}

#[test]
fn one_refund_is_paid_and_not_two() {
    let ran = rows_begin(
        "refund-twice",
        [
            "2 (no key) 0 ≥74+32, 74+47",
            "2 (c1, c7) 79 ≥74+32, 74+47",
            "1 (1ec55537) 79 ≥74+32, 74+47",
        ],
    );
    assert!(row(&ran, "naive").contains("monWhat"));
    assert!(!row(&ran, "Rejoin").contains("mon"));
    // echo -n '["support-4711","issue_refund",{"cents":3450,"order":"T-318"},0,null]' | sha256sum
    assert!(ran.out.contains("c1 and c7 mean the same"));
    assert!(ran.out.contains("one effect key, 1ec55537ee0389707d31133099587e2f"));
    assert!(ran.out.contains("[dropped: I am sorry to hear that. Let me look up"));
}

#[test]
fn a_long_answer_is_continued_and_the_repetition_is_taken_off() {
    let ran = rows_begin("tunnel", ["0 ≥9+213, 9+147", "920 ≥9+213, 9+147", "26 ≥9+213, 252+65"]);
    assert!(ran.out.contains("R 205 (exact) → continue: enough free text to keep"));
    assert!(ran.out.contains("The model repeated 83 characters at the seam."));
    assert_eq!(ran.out.matches("It costs less than").count(), 1);
}

#[test]
fn the_other_stories_go_as_they_are_told() {
    rows_begin("restart", ["0 ≥12+102, 12+126", "129 ≥12+102, 12+126", "129 ≥12+102, 12+126"]);
    let ran = rows_begin("continue", ["0 unknown, 9+", "954 unknown, 9+", "14 unknown, 268+46"]);
    assert!(ran.out.contains("(estimated) → continue"));
    let ran = rows_begin("list-renumbered", ["0 ≥13+", "922 ≥13+", "12 ≥13+"]);
    assert!(ran.out.replace('\n', " ").contains("The next number is 8."));
    assert_eq!(ran.out.matches("\n7. ").count(), 1);
    let ran = rows_begin("schema", ["0 ≥24+27, 24+77", "117 ≥24", "117 ≥24"]);
    assert!(row(&ran, "naive").contains("(no JSON)") && row(&ran, "Rejoin").contains("(is JSON)"));
    let ran = rows_begin("second-drop", ["0 ≥7+21, ≥7+10, 7+84", "133 ≥7", "133 ≥7"]);
    assert!(ran.out.contains("non_streaming: second drop"));
    let ran = rows_begin("quota", ["0 4× not billed", "0 4× not billed", "0 not billed"]);
    assert!(ran.out.contains("failed: quota_exhausted"));
    let ran = rows_begin("resume", ["0 ≥12+69", "297 ≥12+69", "32 ≥12+69, 12+61"]);
    assert!(ran.out.contains("resume: the server gave a token"));
    let ran = rows_begin("silent-restart", ["0 ≥8+83", "358 ≥8+83", "358 ≥8+83, 104+87"]);
    assert!(ran.out.contains("the model began its answer anew"));
}

#[test]
fn offline_the_retry_waits_for_the_device() {
    let ran = told("offline-then-online");
    assert!(ran.out.contains("offline: waiting for a network"));
    assert!(row(&ran, "Rejoin").starts_with("Rejoin 13 ≥14+82, 110+46"));
}

#[test]
fn without_a_name_the_two_main_stories_are_told() {
    let ran = rejoin(&["demo", "--speed", "100"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("refund-twice: ") && ran.out.contains("\ntunnel: "));
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
}

#[test]
fn a_reader_that_is_gone_ends_it_without_a_word() {
    let mut command = command(&["demo", "--speed", "50", "--scenario", "restart"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(3), 0));
}

#[test]
fn stories_are_listed_and_unknown_ones_refused_by_naming_them() {
    let list = rejoin(&["demo", "--list"]);
    assert_eq!(list.code, 0);
    let names: Vec<_> = list.out.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, NAMES);
    let unknown = rejoin(&["demo", "--scenario", "nosuch"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert_eq!(unknown.err.lines().count(), 1);
    assert!(NAMES.iter().all(|name| unknown.err.contains(name)), "{}", unknown.err);
    for speed in ["0", "-1", "NaN"] {
        assert_eq!(rejoin(&["demo", "--speed", speed, "--scenario", "quota"]).code, 2, "{speed}");
    }
}

const NAMES: [&str; 11] = [
    "refund-twice",
    "tunnel",
    "restart",
    "continue",
    "list-renumbered",
    "schema",
    "second-drop",
    "quota",
    "offline-then-online",
    "resume",
    "silent-restart",
];

/// The stories are fault scripts: what they expect of a client holds.
#[test]
fn the_stories_are_fault_scripts_that_pass() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/bin/rejoin/demo");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for name in NAMES {
        let script = Script::from_file(folder.join(format!("{name}.json"))).unwrap();
        let again = folder.join(format!("again/{name}.json"));
        if again.exists() {
            let again = Script::from_file(again).unwrap();
            assert_eq!(again.request, script.request, "{name}");
        }
        // Its retry needs the device's signals, which a script does not have.
        if name != "offline-then-online" {
            let played = runtime.block_on(play(&script, rejoin::recorder::Keep::Text)).unwrap();
            assert!(played.violations.is_empty(), "{name}: {:#?}", played.violations);
            let calls = usize::from(name == "refund-twice");
            assert_eq!(played.keys.len(), calls, "{name}");
        }
    }
}
