//! Many scripts behind one address.

use rejoin::testkit::{FlakyServer, Script};

use crate::client::{Client, STREAM};

fn script(name: &str, server: &str) -> Script {
    let text = format!(r#"{{"name":"{name}","request":{{"prompt":"x"}},"server":{server}}}"#);
    Script::parse(&text).unwrap()
}

async fn told(server: &FlakyServer, place: &str) -> String {
    Client::ask(server, &format!("/{place}{STREAM}")).await.answer().await.text()
}

#[tokio::test]
async fn each_turn_begins_its_story_anew() {
    let stories = vec![
        script("cats", r#"[{"send": ["purr"]}, {"send": ["hiss"]}]"#),
        script("dogs", r#"[{"send": ["bark"]}]"#),
    ];
    let server = FlakyServer::builder().stories(stories).start().await.unwrap();
    assert!(told(&server, "cats/full/one").await.contains("purr"));
    assert!(told(&server, "cats/full/two").await.contains("purr"), "another turn");
    assert!(told(&server, "cats/full/one").await.contains("hiss"), "the first turn's retry");
    assert!(told(&server, "dogs/lte/one").await.contains("bark"));
    for unknown in ["birds/full/one", "cats/5g/one", "cats"] {
        let mut client = Client::ask(&server, &format!("/{unknown}{STREAM}")).await;
        let (bytes, _) = client.read_to_end().await;
        let answer = String::from_utf8(bytes).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404 ") && answer.contains("cats, dogs"), "{answer}");
    }
}

#[tokio::test]
async fn a_story_cannot_stop_the_server_from_listening() {
    let stories = vec![script("away", r#"[{"refuse_ms": 5}, {"send": ["a"]}]"#)];
    let error = FlakyServer::builder().stories(stories).start().await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}
