//! `stream --drop-log` writes what `advise` reads.

use super::support::*;
use serde_json::Value;
use std::path::Path;

/// A drop after a sentence, a continuation that restates it and drops as well, and the rest.
const TUNNEL: &str = r#"[
    {"send": ["Bees dance in circles of pollen. And th"], "usage": [5, 12, 0], "end": "reset"},
    {"send": ["Bees dance in circles of pollen. Then they", " fly."], "usage": [9, 9, 0],
     "end": "cut"},
    {"send": [" Home.", {"finish": "STOP"}], "usage": [9, 3, 0]}
]"#;

/// Runs that turn; gives the file with its drops.
fn drop_log(name: &str, more: &[&str]) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::remove_file(&path);
    let server = Server::start(TUNNEL);
    let url = server.url();
    let mut args = stream(&url, &["--prompt", "PROMPT-MARK", "--turn-id", "TURN-MARK"]);
    args.extend(["--set", "min_continue_tokens=1", "--header", "x-secret=HEADER-MARK"]);
    args.extend(["--set", "backoff_base_ms=40", "--set", "backoff_jitter=0"]);
    args.extend(["--drop-log", &path]);
    args.extend(more);
    let mut run = command(&args);
    run.env("GEMINI_API_KEY", KEY);
    let ran = ran(&mut run);
    assert_eq!(ran.code, 0, "{}", ran.err);
    path
}

#[test]
fn a_drop_is_a_line_without_text_key_or_id() {
    let path = drop_log("drops-private.jsonl", &[]);
    let log = std::fs::read_to_string(&path).expect("a log");
    for mark in ["Bees", "pollen", "PROMPT", "TURN-MARK", "HEADER", KEY, "127.0.0.1"] {
        assert!(!log.contains(mark), "{mark} in {log}");
    }
    let lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [first, second] = &lines[..] else { panic!("{log}") };
    assert_eq!(first["type"], "drop");
    assert_eq!(first["turn"], second["turn"]);
    assert_eq!((&first["cause"], &second["cause"]), (&"reset".into(), &"closed_early".into()));
    assert_eq!(first["decision"]["strategy"], "continue");
    assert_eq!(first["received_tokens"], 12);
    assert_eq!(first["exact"], true);
    assert_eq!(first["usage"]["billing"], "lower_bound");
    assert_eq!(first["next"]["seam"], "restatement");
    assert_eq!(first["next"]["outcome"], "dropped");
    assert_eq!(second["decision"]["reasons"][0], "second_drop");
    assert_eq!(second["next"]["strategy"], "non_streaming");
    assert_eq!(second["next"]["seam"], "clean");
    assert_eq!(second["next"]["usage"]["billing"], "known");
    let waited = second["next"]["waited_ms"].as_u64().expect("a number");
    assert!(waited >= 40, "{waited}");
}

#[test]
fn a_second_turn_appends() {
    let path = drop_log("drops-append.jsonl", &[]);
    let server = Server::start(TUNNEL);
    let url = server.url();
    let args = ["--prompt", "hi", "--drop-log", &path, "--set", "backoff_base_ms=1"];
    assert_eq!(rejoin(&stream(&url, &args)).code, 0);
    let log = std::fs::read_to_string(&path).expect("a log");
    assert_eq!(log.lines().count(), 4);
}

#[test]
fn advice_is_printed_and_drawn_from_logs_and_from_events() {
    let log = drop_log("drops-advise.jsonl", &[]);
    let page = format!("{}/advise.html", env!("CARGO_TARGET_TMPDIR"));
    let ran = rejoin(&["advise", &log, "--html", &page, "--threshold", "7"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in [
        "2 drops in 1 file; R measured in 100 %",
        "fewer than 100 drops",
        "2 continuations: 50 % clean, 50 % mended unseen, 0 % began anew",
        "closed_early 1, reset 1",
        "Continuing is not worth it for you",
    ] {
        assert!(ran.out.contains(part), "no {part:?} in:\n{}", ran.out);
    }
    assert!(ran.out.lines().any(|line| line.trim_start().starts_with("7 ")), "{}", ran.out);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("<svg") && html.contains("not worth it"), "{html}");
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!html.contains(outside), "the page reaches for {outside}");
    }
    // The events of a turn hold its drops, too, with less about what followed.
    let server = Server::start(TUNNEL);
    let events = rejoin(&stream(&server.url(), &["--prompt", "hi"]));
    let mut child = Running::start(&["advise", "-"]);
    for line in events.out.lines() {
        child.say(line);
    }
    let ran = child.end();
    assert!(ran.out.contains("2 drops in 1 file"), "{}", ran.out);
}

#[test]
fn long_drops_are_worth_continuing_and_lost_continuations_are_not() {
    let drop = |r: u32, seam: &str| {
        format!(
            r#"{{"type":"drop","cause":"idle","received_tokens":{r},"committed_tokens":{r},"exact":true,"took_ms":{},"decision":{{"strategy":"continue","reasons":["free_text_above_threshold"]}},"usage":{{"prompt_tokens":100,"candidates_tokens":{r}}},"next":{{"outcome":"completed","seam":"{seam}"}}}}"#,
            r * 10
        ) + "\n"
    };
    let good = file("drops-good.jsonl", &drop(900, "clean").repeat(200));
    let ran = rejoin(&["advise", &good, "--input-price", "1", "--output-price", "3"]);
    assert!(ran.out.contains("Set min_continue_tokens to 200. It continues 100 %"), "{}", ran.out);
    // 200 drops x 900 tokens x (3 - 1) a million.
    assert!(ran.out.contains("saves 0.3600 and 30.0 min of waiting"), "{}", ran.out);
    let bad = file("drops-bad.jsonl", &drop(900, "restart").repeat(200));
    let ran = rejoin(&["advise", &bad]);
    assert!(ran.out.contains("Continuing is not worth it for you: 100 %"), "{}", ran.out);
}

#[test]
fn lines_of_anything_else_are_counted_and_told() {
    let log =
        file("drops-odd.jsonl", "nonsense\n{\"type\":\"text\"}\n\n[1]\n{\"type\":\"drop\"}\n");
    let ran = rejoin(&["advise", &log]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("no drop in 1 file: nothing to advise on"), "{}", ran.out);
    let note = format!("3 lines could not be read, the first in {log}, line 1");
    assert!(ran.out.contains(&note), "{}", ran.out);
    let marked = r#"{"type":"drop","cause":"<script>alert(1)</script>","decision":{}}"#;
    let log = file("drops-markup.jsonl", marked);
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("markup.html");
    assert_eq!(rejoin(&["advise", &log, "--html", page.to_str().unwrap()]).code, 0);
    let html = std::fs::read_to_string(page).expect("a page");
    assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
}

#[test]
fn what_cannot_be_read_or_priced_is_wrong_usage() {
    let missing = rejoin(&["advise", "/no/such/file"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("/no/such/file"), "{}", missing.err);
    assert_eq!(rejoin(&["advise"]).code, 2);
    let log = file("drops-none.jsonl", "");
    assert_eq!(rejoin(&["advise", &log, "--input-price=-1"]).code, 2);
    assert_eq!(rejoin(&["advise", &log, "--html", "/no/such/folder/page.html"]).code, 2);
}

#[test]
fn a_simulation_needs_no_log_and_is_the_same_for_the_same_seed() {
    let args = ["advise", "--simulate", "--turns", "300"];
    let ran = rejoin(&args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in ["calm:", "train:", "lift:", "weak cell:", "overload:", "oracle"] {
        assert!(ran.out.contains(part), "no {part:?} in:\n{}", ran.out);
    }
    assert!(!ran.out.contains("your log"), "{}", ran.out);
    assert_eq!(rejoin(&args).out, ran.out);
    assert_ne!(rejoin(&[&args[..], &["--seed", "2"]].concat()).out, ran.out);
    let log = drop_log("drops-simulated.jsonl", &[]);
    let page = format!("{}/simulated.html", env!("CARGO_TARGET_TMPDIR"));
    let with_log = rejoin(&[&args[..], &[&log, "--html", &page]].concat());
    assert!(with_log.out.contains("your log:") && with_log.out.contains("2 drops in 1 file"));
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("<h3>weak cell</h3>") && html.contains("<h3>your log</h3>"));
    assert_eq!(rejoin(&["advise", "--turns", "9"]).code, 2);
}
