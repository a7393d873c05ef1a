//! `stream`: what is printed, and how it ends.

use super::support::*;

const WHOLE: &str =
    r#"[{"send": ["Hello ", {"text": "world.", "finish": "STOP"}], "usage": [5, 2, 0]}]"#;
const BROKEN: &str = r#"[
    {"send": ["Hello ", "wor"], "usage": [5, 1, 0], "end": "reset"},
    {"send": ["Hello ", {"call": "mew", "args": {"n": 1}}, "there.", {"finish": "STOP"}],
     "usage": [5, 2, 0]}
]"#;

#[test]
fn a_whole_answer_exits_0_with_one_event_a_line() {
    let server = Server::start(WHOLE);
    let ran = rejoin(&stream(&server.url(), &["--prompt", "hi", "--turn-id", "t-1"]));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let events = ran.events();
    for (n, event) in events.iter().enumerate() {
        assert_eq!((&event["seq"], &event["turn"]), (&(n + 1).into(), &"t-1".into()));
    }
    assert_eq!(events.last().unwrap()["text"], "Hello world.");
}

#[test]
fn a_failed_turn_exits_3() {
    let server = Server::start(r#"[{"status": 404, "send": [{"error": 404}]}]"#);
    let ran = rejoin(&stream(&server.url(), &["--prompt", "hi"]));
    assert_eq!(ran.code, 3);
    assert_eq!(ran.last_event()["error"]["kind"], "not_found");
    let pretty = rejoin(&["stream", "--base-url", &server.url(), "--model", "m", "--prompt", "hi"]);
    assert_eq!(pretty.code, 3);
    assert!(pretty.out.contains("failed: not_found"), "{}", pretty.out);
}

#[test]
fn in_a_pipe_the_pretty_view_is_plain_text_with_what_was_dropped_in_brackets() {
    let server = Server::start(BROKEN);
    let url = server.url();
    let args = ["stream", "--base-url", &url, "--model", "m", "--prompt", "hi", "--turn-id", "t"];
    let ran = rejoin(&args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(!ran.out.contains('\u{1b}'));
    let expected = "\
Hello wor
── connection reset · R 0 (exact) → restart: nothing safe to build on
[dropped: Hello wor]
── attempt 2, restart · takes all 9 characters back
Hello 
── mew is called for: held, not run
there.

── completed: complete (STOP)
   run mew {\"n\":1}
";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    let rest: Vec<&str> = ran.out[expected.len()..].lines().collect();
    assert!(rest[0].trim_start().starts_with("effect key ") && rest[0].len() > 40, "{}", rest[0]);
    assert!(rest[1].starts_with("#  strategy  outcome"), "{}", rest[1]);
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cells(rest[2])[..8], ["1", "initial", "dropped", "reset", "5", "1", "at", "least"]);
    assert_eq!(cells(rest[3])[..7], ["2", "restart", "completed", "–", "5", "2", "known"]);
}

#[test]
fn a_body_is_sent_as_it_is_from_a_file_or_standard_input() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}], "unheardOf": 1.0}"#;
    let server = Server::start(WHOLE);
    let path = file("body.json", body);
    let url = server.url();
    assert_eq!(rejoin(&stream(&url, &["--request", &path])).code, 0);
    let mut child = Running::start(&stream(&url, &["--request", "-"]));
    child.say(body);
    assert_eq!(child.end().code, 0);
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1beta/models/m:streamGenerateContent");
    assert_eq!(requests[0].query, "alt=sse");
    for request in requests {
        assert_eq!(String::from_utf8(request.body).unwrap().trim_end(), body);
    }
}

#[test]
fn the_key_is_sent_and_never_shown() {
    let echo = format!(
        r#"[{{"status": 400, "send": [{{"error": 400, "message": "API key {KEY} not valid."}}]}}]"#
    );
    let server = Server::start(&echo);
    let url = server.url();
    let pretty = ["stream", "--base-url", &url, "--model", "m", "--prompt", "hi"];
    let jsonl = stream(&url, &["--prompt", "hi", "--api-key-env", "MY_KEY"]);
    let header = format!("x-token={KEY}");
    let with_header = stream(&url, &["--prompt", "hi", "--header", &header]);
    let runs = [
        ran(command(&pretty).env("GEMINI_API_KEY", KEY)),
        ran(command(&jsonl).env("MY_KEY", KEY)),
        rejoin(&with_header),
        // Not sendable: refused, and not shown either.
        ran(command(&jsonl).env("MY_KEY", format!("{KEY}\n"))),
    ];
    for (run, code) in runs.iter().zip([3, 3, 3, 2]) {
        assert_eq!(run.code, code, "{run:?}");
        assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "{run:?}");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].header("x-goog-api-key"), Some(KEY));
    assert_eq!(requests[1].header("x-goog-api-key"), Some(KEY));
    assert_eq!(
        (requests[2].header("x-goog-api-key"), requests[2].header("x-token")),
        (None, Some(KEY))
    );
}

#[test]
fn a_policy_comes_from_a_file_and_set_wins() {
    let server = Server::start(r#"[{"send": ["a"], "end": "cut"}]"#);
    let path = file("policy.json", r#"{"max_attempts": 3, "backoff_base_ms": 1}"#);
    let url = server.url();
    let from_file = rejoin(&stream(&url, &["--prompt", "hi", "--policy", &path]));
    assert_eq!(from_file.last_event()["attempts"].as_array().unwrap().len(), 3);
    let set = ["--prompt", "hi", "--policy", &path, "--set", "max_attempts=1"];
    let set = rejoin(&stream(&url, &set));
    assert_eq!(set.code, 3);
    assert_eq!(set.last_event()["attempts"].as_array().unwrap().len(), 1);
}

/// `script` gives the command a terminal, where there is a `script`.
#[test]
fn a_terminal_gets_looks_unless_its_user_wants_none() {
    let on_terminal = |env: &[(&str, &str)]| {
        let server = Server::start(BROKEN);
        let exe = env!("CARGO_BIN_EXE_rejoin");
        let line = format!("{exe} stream --base-url {} --model m --prompt hi", server.url());
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env_remove("NO_COLOR");
        command.envs(env.iter().copied()).stdin(std::process::Stdio::null());
        command.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    let Some(colored) = on_terminal(&[("TERM", "xterm")]) else {
        println!("SKIPPED: no `script` that makes a terminal");
        return;
    };
    let has_codes = |out: &[u8]| out.contains(&0x1b);
    assert!(String::from_utf8_lossy(&colored).contains("\u{1b}[9m"));
    for env in [[("TERM", "xterm"), ("NO_COLOR", "1")], [("TERM", "dumb"), ("NO_COLOR", "")]] {
        let plain = on_terminal(&env).expect("worked before");
        assert!(!has_codes(&plain), "{}", String::from_utf8_lossy(&plain));
        assert!(String::from_utf8_lossy(&plain).contains("[dropped: Hello wor]"));
    }
}
