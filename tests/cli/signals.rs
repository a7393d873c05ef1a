//! A turn that is told something while it runs: an interrupt, the device's signals.

use super::support::*;

const HANGS: &str = r#"[{"send": ["Hello "], "end": "hang", "usage": [5, 1, 0]}]"#;

#[test]
fn an_interrupt_cancels_and_the_server_sees_the_socket_close() {
    let server = Server::start(HANGS);
    let url = server.url();
    let mut child = Running::start(&stream(&url, &["--prompt", "hi"]));
    // That this line can be read while the server is silent shows that lines are flushed.
    assert_eq!(child.until("text")["text"], "Hello ");
    child.interrupt();
    let ran = child.end();
    assert_eq!(ran.code, 130, "{ran:?}");
    let last = ran.last_event();
    assert_eq!(last["error"]["kind"], "cancelled");
    assert_eq!(last["partial_text"], "Hello ");
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].client_closed), (1, true));
}

#[test]
fn control_cancels() {
    let server = Server::start(HANGS);
    let url = server.url();
    let mut child = Running::start(&stream(&url, &["--prompt", "hi", "--control"]));
    child.until("text");
    child.say("cancel");
    let ran = child.end();
    assert_eq!((ran.code, ran.last_event()["error"]["kind"].as_str()), (130, Some("cancelled")));
    assert!(server.requests()[0].client_closed);
}

#[test]
fn control_parks_a_retry_while_there_is_no_network() {
    let slow = r#"[
        {"send": ["Hello ", {"wait_ms": 700}], "end": "cut", "usage": [5, 1, 0]},
        {"send": [{"text": "Hello world.", "finish": "STOP"}], "usage": [5, 2, 0]}
    ]"#;
    let server = Server::start(slow);
    let url = server.url();
    let mut child = Running::start(&stream(&url, &["--prompt", "hi", "--control"]));
    child.until("text");
    child.say("network_lost");
    let waiting = child.until("waiting");
    assert_eq!((waiting["why"].as_str(), waiting.get("for_ms")), (Some("offline"), None));
    child.say("no such thing");
    child.say("network_available");
    child.until("completed");
    let ran = child.end();
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("no such thing"), "{}", ran.err);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn without_control_standard_input_is_left_alone() {
    let server =
        Server::start(r#"[{"send": [{"text": "ok", "finish": "STOP"}], "usage": [5, 1, 0]}]"#);
    let url = server.url();
    let mut child = Running::start(&stream(&url, &["--prompt", "hi"]));
    child.say("cancel");
    child.until("completed");
    assert_eq!(child.end().code, 0);
}

#[test]
fn a_flaky_server_says_where_it_listens_and_ends_on_an_interrupt() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin/rejoin/demo/refund-twice.json");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_rejoin"))
        .args(["serve-flaky", "--script", script])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = child.stdout.as_mut().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").expect("where it listens");
    let ran = rejoin(&stream(url, &["--prompt", "hi", "--turn-id", "support-4711"]));
    assert_eq!(ran.code, 0);
    let last = ran.last_event();
    assert_eq!(last["tool_calls"].as_array().unwrap().len(), 1);
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn control_tells_of_suspension_and_a_silent_stream_is_abandoned() {
    let server = Server::start(
        r#"[{"send": ["Hello "], "end": "hang"}, {"send": [{"text": "Hello world.", "finish": "STOP"}]}]"#,
    );
    let url = server.url();
    let mut child = Running::start(&stream(&url, &["--prompt", "hi", "--control"]));
    child.until("text");
    child.say("will_suspend");
    child.say("resumed");
    assert_eq!(child.until("dropped")["cause"], "suspended");
    assert_eq!(child.until("completed")["text"], "Hello world.");
    let ran = child.end();
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].client_closed), (2, true));
}

#[test]
fn a_process_that_was_stopped_finds_out_by_itself() {
    let server = Server::start(
        r#"[{"send": ["Hello "], "end": "hang"}, {"send": [{"text": "Hello world.", "finish": "STOP"}]}]"#,
    );
    let url = server.url();
    let args = ["--prompt", "hi", "--set", "suspend_gap_ms=500"];
    let mut child = Running::start(&stream(&url, &args));
    child.until("text");
    child.signal("STOP");
    // The sleep is the story: beyond the second between two looks, and the gap.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    child.signal("CONT");
    let dropped = child.until("dropped");
    assert_eq!(
        (&dropped["cause"], &dropped["detail"]),
        (&"suspended".into(), &"the device slept".into())
    );
    child.until("completed");
    assert_eq!(child.end().code, 0);
    assert_eq!(server.requests().len(), 2);
}
