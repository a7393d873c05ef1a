//! Reading scripts: slips of the pen are errors, and every script there is can be read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rejoin::testkit::{Cancel, FlakyServer, Script, ScriptError};
use serde_json::json;
use tokio::time::timeout;

use crate::client::{Client, LONG, STREAM, UNARY};

fn with(server: &str) -> String {
    format!(r#"{{"name": "x", "request": {{"prompt": "p"}}, "server": [{server}]}}"#)
}

fn fault(text: &str) -> String {
    Script::parse(text).expect_err(text).to_string()
}

#[test]
fn unknown_keys_are_errors_everywhere() {
    for (text, key) in [
        (r#"{"name":"x","request":{"prompt":"p"},"server":[{}],"servr":[]}"#.to_owned(), "servr"),
        (r#"{"name":"x","request":{"prompt":"p","top":1},"server":[{}]}"#.to_owned(), "top"),
        (with(r#"{"sned": []}"#), "sned"),
        (with(r#"{"send": [{"txt": "a"}]}"#), "txt"),
        (with(r#"{"send": [{"event": [{"txt": "a"}]}]}"#), "txt"),
        (with(r#"{"end": "rst"}"#), "rst"),
        (with(r#"{"newline": "nl"}"#), "nl"),
        (with(r#"{"segment": "line"}"#), "segment"),
        (with(r#"{"segment": 0}"#), "segment"),
        (with(r#"{"send": [{"error": 503, "form": "html"}]}"#), "html"),
        (with(r#"{"send": [{"text": "a", "usage": [1, 2, 3, 4]}]}"#), "usage"),
    ] {
        let error = fault(&text);
        assert!(error.contains(key) && error.contains("line "), "{text}: {error}");
    }
    for (expect, key) in [
        (r#"{"nver": []}"#, "nver"),
        (r#"{"end": "done"}"#, "done"),
        (r#"{"finish": {"clas": "x"}}"#, "clas"),
        (r#"{"error": {"detail_contains": []}}"#, "detail_contains"),
        (r#"{"tools": [{"name": "f", "arg": {}}]}"#, "arg"),
        (r#"{"attempts": [{"strat": "x"}]}"#, "strat"),
        (r#"{"attempts": [{}, ".."]}"#, ".."),
        (r#"{"resets": [{"keeps": ""}]}"#, "keeps"),
        (r#"{"requests": [{"role": []}]}"#, "role"),
        (r#"{"history": {"part": []}}"#, "part"),
        (r#"{"effect_keys": "unique"}"#, "unique"),
    ] {
        let text = format!(
            r#"{{"name":"x","request":{{"prompt":"p"}},"server":[{{}}],"expect":{expect}}}"#
        );
        let error = fault(&text);
        assert!(error.contains(key), "{expect}: {error}");
    }
}

#[test]
fn what_means_nothing_is_an_error() {
    for (server, why) in [
        (r#"{"send": [{}]}"#, "must say what it sends"),
        (r#"{"send": [{"text": "a", "call": "f"}]}"#, "not both"),
        (r#"{"send": [{"text": "a", "args": {}}]}"#, "`args` means nothing"),
        (r#"{"send": [{"raw": "a", "finish": "STOP"}]}"#, "`finish` means nothing"),
        (r#"{"send": [{"finish": "STOP", "sig": "a"}]}"#, "`sig` means nothing"),
        (r#"{"send": [{"part": {}}]}"#, "belongs into an `event`"),
        (r#"{"send": [{"event": [{"text": "a", "finish": "STOP"}]}]}"#, "belong to the event"),
        (r#"{"send": [{"event": [{"wait_ms": 1}]}]}"#, "a part is"),
        (r#"{"send": [{"json": []}]}"#, "must be an object"),
        (r#"{"send": [{"raw_b64": "?"}]}"#, "raw_b64"),
        (r#"{"refuse_ms": 5, "status": 503}"#, "stands alone"),
        (r#"{"head": false, "send": ["a"]}"#, "may only wait"),
        (r#"{"status": 99}"#, "200 to 599"),
        (r#"{"headers": {"a b": "c"}}"#, "cannot be sent"),
    ] {
        let error = fault(&with(server));
        assert!(error.contains(why), "{server}: {error}");
    }
    for (text, why) in [
        (r#"{"name":"x","request":{},"server":[{}]}"#, "either a `prompt` or a `body`"),
        (r#"{"name":"x","request":{"prompt":"p","body":{}},"server":[{}]}"#, "either"),
        (r#"{"name":"x","request":{"body":{},"tools":["f"]},"server":[{}]}"#, "go with `prompt`"),
        (r#"{"name":"x","request":{"body":[]},"server":[{}]}"#, "must be an object"),
        (r#"{"name":"x","request":{"prompt":"p"},"server":[]}"#, "at least one"),
        (r#"{"name":"x","request":{"prompt":"p"},"server":[{}],"cancel":{}}"#, "either `on`"),
        (
            r#"{"name":"x","request":{"prompt":"p"},"server":[{}],"expect":{"attempts":["..."]}}"#,
            "after an entry",
        ),
        (
            r#"{"name":"x","request":{"prompt":"p"},"server":[{}],"expect":{"requests":[{"same_body_as":1}]}}"#,
            "no earlier request 1",
        ),
    ] {
        assert!(fault(text).contains(why), "{text}: {}", fault(text));
    }
}

#[test]
fn a_script_says_what_it_sends() {
    let script = Script::parse(
        r#"{"name": "x", "request": {"prompt": "Hi.", "system": "Be brief.", "tools": ["f"]},
            "policy": {"idle_timeout_ms": 300, "backoff_jitter": 0.5}, "cancel": {"after_ms": 5},
            "server": [{"refuse_ms": 3}, {}]}"#,
    )
    .unwrap();
    assert_eq!(
        script.request_body(),
        json!({
            "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
        })
    );
    assert_eq!(script.cancel, Some(Cancel::AfterMs(5)));
    assert_eq!(script.answers(), 1);
    let policy = script.full_policy();
    assert_eq!(policy["idle_timeout_ms"].as_u64(), Some(300));
    assert_eq!(policy["backoff_jitter"].as_f64(), Some(0.5));
    assert_eq!(policy["backoff_base_ms"].as_u64(), Some(20));

    let script = Script::parse(r#"{"name":"x","request":{"body":{"contents":[]}},"server":[{}]}"#);
    assert_eq!(script.unwrap().request_body(), json!({"contents": []}));
}

#[test]
fn a_file_bears_its_scripts_name() {
    let folder = std::env::temp_dir().join(format!("rejoin-scripts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("y.json");
    std::fs::write(&path, with("{}")).unwrap();
    assert!(matches!(Script::from_file(&path), Err(ScriptError::Meaning { .. })));
    std::fs::rename(&path, folder.join("x.json")).unwrap();
    assert_eq!(Script::from_file(folder.join("x.json")).unwrap().name, "x");
    assert!(matches!(Script::from_file(&path), Err(ScriptError::Read { .. })));
    std::fs::write(&path, "{").unwrap();
    let error = Script::from_file(&path).unwrap_err();
    assert!(error.to_string().contains("y.json"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Every script of a folder.
fn read_all(folder: &Path) -> Vec<Script> {
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The one file of another kind.
        if Path::new(&name).extension().is_none_or(|extension| extension != "json")
            || name == "boundaries.json"
        {
            continue;
        }
        let script = Script::from_file(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(!script.about.is_empty(), "{name} does not say what it is about");
        scripts.push(script);
    }
    scripts
}

fn own_scripts() -> Vec<Script> {
    read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults"))
}

#[test]
fn our_own_scripts_can_be_read() {
    assert!(own_scripts().len() >= 60);
}

#[test]
fn scripts_that_are_compared_are_there() {
    let scripts = own_scripts();
    for script in &scripts {
        let expect = &script.expect;
        for name in [&expect.same_effect_keys_as, &expect.other_effect_keys_than] {
            let found = |name: &String| scripts.iter().any(|other| other.name == *name);
            assert!(name.as_ref().is_none_or(found), "{}: no {name:?}", script.name);
        }
    }
}

/// Asks for every response once and leaves a moment later, whatever has come by then.
#[tokio::test]
async fn every_script_can_be_played() {
    let mut runs = tokio::task::JoinSet::new();
    for script in own_scripts() {
        runs.spawn(async move {
            let server = FlakyServer::start(&script).await.unwrap();
            let refuses = script.server.iter().any(|response| response.refuse_ms.is_some());
            let asks = if refuses { 0 } else { script.answers() };
            for k in 0..asks {
                let target = if k % 2 == 0 { STREAM } else { UNARY };
                let mut client = Client::ask(&server, target).await;
                let _ = timeout(Duration::from_millis(200), client.read_to_end()).await;
            }
            assert!(server.settled(LONG).await, "{}", script.name);
            assert_eq!(server.requests().len(), asks, "{}", script.name);
        });
    }
    while let Some(run) = runs.join_next().await {
        run.unwrap();
    }
}

#[test]
fn the_shared_scripts_can_be_read() {
    let shared = std::env::var_os("REJOIN_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let folder = shared.join("faults");
    if !folder.is_dir() {
        eprintln!("skipped: there are no shared scripts in {}", folder.display());
        return;
    }
    assert!(!read_all(&folder).is_empty());
}
