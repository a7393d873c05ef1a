//! A drop after each of these texts commits exactly what the table says.

use std::path::PathBuf;

use rejoin::text::{Checkpoint, Cut, estimate_tokens};
use serde_json::Value;

fn cut(text: &str) -> Option<Cut> {
    let mut checkpoint = Checkpoint::new();
    checkpoint.push(text);
    checkpoint.cut()
}

fn failures(table: &Value) -> Vec<String> {
    let cases = table["cases"].as_array().expect("the table has cases");
    let mut failures = Vec::new();
    for case in cases {
        let text = case["text"].as_str().expect("a case has a text");
        let cut = cut(text);
        let committed = cut.as_ref().map(|cut| text[..cut.len].trim_end());
        let expected = case["committed"].as_str().map(str::trim_end);
        let number = cut.as_ref().and_then(|cut| cut.next_number);
        let fence = cut.as_ref().and_then(|cut| cut.open_fence.as_ref()).map(|f| f.info.as_str());
        let fence_right = case.get("open_fence").is_none_or(|want| want.as_str() == fence);
        if committed != expected || number != case["next_number"].as_u64() || !fence_right {
            failures.push(format!(
                "{}: got {committed:?} {number:?} {fence:?}\n    want {expected:?} {} {:?}",
                case["name"],
                case["next_number"],
                case.get("open_fence")
            ));
        }
    }
    println!("{} of {} cases right", cases.len() - failures.len(), cases.len());
    failures
}

fn shared() -> PathBuf {
    std::env::var_os("REJOIN_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from)
}

#[test]
fn own_table() {
    let table = serde_json::from_str(include_str!("boundaries.json")).expect("the table is JSON");
    let failures = failures(&table);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn shared_table() {
    let Ok(text) = std::fs::read_to_string(shared().join("faults/boundaries.json")) else {
        println!("skipped: no shared folder");
        return;
    };
    let failures = failures(&serde_json::from_str(&text).expect("the table is JSON"));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn instructions_of_real_continuations() {
    let Ok(text) = std::fs::read_to_string(shared().join("seams/cases.json")) else {
        println!("skipped: no shared folder");
        return;
    };
    let cases: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
    let mut wrong = Vec::new();
    for case in &cases {
        let committed = case["committed"].as_str().expect("a case has committed text");
        let instruction = case["instruction"].as_str().expect("a case has an instruction");
        let number = instruction
            .split_once("The next number is ")
            .and_then(|(_, rest)| rest.trim_end_matches('.').parse::<u64>().ok());
        let fence = instruction.contains("inside an open code block");
        let cut = Checkpoint::continuing(committed).cut().expect("kept text stays kept");
        if cut.len != committed.len()
            || cut.next_number != number
            || cut.open_fence.is_some() != fence
        {
            wrong.push(format!("{} {cut:?} want {number:?} {fence}", case["id"]));
        }
        // Cut where it was cut, it is found again from what the unbroken text had after it.
        let next = case["next"].as_str().unwrap_or_default();
        let whole = format!("{committed}{next}");
        let mut checkpoint = Checkpoint::new();
        checkpoint.push(&whole);
        assert!(checkpoint.cut().is_some_and(|cut| cut.len > 0), "{}", case["id"]);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The estimate against what Gemini counted: text and last `candidatesTokenCount` of recordings.
#[test]
fn estimates_are_near_the_counts_of_real_answers() {
    let Ok(folder) = std::fs::read_dir(shared().join("recordings")) else {
        println!("skipped: no shared folder");
        return;
    };
    let mut ratios = Vec::new();
    for path in folder.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|e| e != "sse") {
            continue;
        }
        let Ok(body) = std::fs::read_to_string(&path) else { continue };
        let Some((text, count)) = text_and_count(&body) else { continue };
        // Counts far from any estimate are of answers whose recording was shortened.
        if text.len() > 60 && (text.len() as u64) > 2 * count {
            ratios.push(estimate_tokens(&text) * 100 / count);
        }
    }
    ratios.sort_unstable();
    println!("estimate in % of the count: {ratios:?}");
    assert!(ratios.len() > 20);
    assert!((90..=110).contains(&ratios[ratios.len() / 2]));
    let near = ratios.iter().filter(|ratio| (80..=120).contains(*ratio)).count();
    assert!(near + 2 >= ratios.len(), "{ratios:?}");
}

/// Nothing for an answer that has other parts than text.
fn text_and_count(body: &str) -> Option<(String, u64)> {
    let (mut text, mut count) = (String::new(), None);
    for event in body.lines().filter_map(|line| line.strip_prefix("data:")) {
        let Ok(event) = serde_json::from_str::<Value>(event) else { continue };
        let parts = event["candidates"][0]["content"]["parts"].as_array();
        for part in parts.into_iter().flatten() {
            if part["thought"] != Value::Bool(true) {
                text.push_str(part["text"].as_str()?);
            }
        }
        count = event["usageMetadata"]["candidatesTokenCount"].as_u64().or(count);
    }
    Some((text, count?))
}
