//! What the core costs per streamed event, beside parsing the same event's JSON.
//!
//! `cargo bench --bench core` prints, in one run on the same bytes:
//! - `event/core`: decode, state, checkpoint and events of the whole pure core
//! - `event/serde_json_value`: `serde_json::from_str::<Value>` of the same events, the named peer
//! - `linear/1000` and `linear/10000`: one turn of so many events
//! - `text/*`: checkpoint and seam per KB

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rejoin::text::{Checkpoint, Seam, SeamContext};
use rejoin::turn::{AttemptNo, BodyEnd, Input, Turn, TurnSetup};
use serde_json::Value;
use std::hint::black_box;
use std::time::Duration;

const WORDS: [&str; 8] = [
    "The train ",
    "leaves the ",
    "station. ",
    "A tunnel ",
    "comes, and ",
    "with it ",
    "the silence. ",
    "Then ",
];

/// Events of the size and shape that 2.5-flash sends, with counts on every event.
fn events(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| {
            let text = format!("{}{}", WORDS[n % 8], WORDS[(n + 3) % 8]);
            let finish = if n + 1 == count { r#""finishReason":"STOP","# } else { "" };
            format!(
                concat!(
                    r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}},{finish}"index":0}}],"#,
                    r#""usageMetadata":{{"promptTokenCount":120,"candidatesTokenCount":{n},"totalTokenCount":{total},"#,
                    r#""promptTokensDetails":[{{"modality":"TEXT","tokenCount":120}}],"thoughtsTokenCount":64}},"#,
                    r#""modelVersion":"gemini-2.5-flash","responseId":"kLewaKa5ONqI8YPcNuAQ"}}"#
                ),
                text = text,
                finish = finish,
                n = n,
                total = n + 184
            )
        })
        .collect()
}

/// One turn over these events, a segment each, to its last event.
fn turn(body: &[Vec<u8>]) -> usize {
    let mut turn = Turn::new(TurnSetup {
        turn_id: "bench".to_owned(),
        body: r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#.to_owned(),
        ..TurnSetup::default()
    });
    let attempt = AttemptNo(1);
    let mut emitted = 0;
    let mut drain = |turn: &mut Turn| {
        while let Some(action) = turn.poll_action() {
            black_box(action);
            emitted += 1;
        }
    };
    turn.start(Duration::ZERO);
    turn.handle(Duration::ZERO, Input::Head { attempt, status: 200, headers: &[] });
    for bytes in body {
        turn.handle(Duration::ZERO, Input::Bytes { attempt, bytes });
        black_box(turn.next_wake());
        drain(&mut turn);
    }
    turn.handle(Duration::ZERO, Input::End { attempt, end: BodyEnd::Clean });
    drain(&mut turn);
    assert!(turn.is_over());
    emitted
}

fn framed(events: &[String]) -> Vec<Vec<u8>> {
    events.iter().map(|event| format!("data: {event}\r\n\r\n").into_bytes()).collect()
}

fn event(c: &mut Criterion) {
    let events = events(1000);
    let body = framed(&events);
    let mut group = c.benchmark_group("event");
    group.throughput(Throughput::Elements(events.len() as u64));
    group.bench_function("core", |b| b.iter(|| turn(&body)));
    group.bench_function("serde_json_value", |b| {
        b.iter(|| {
            for event in &events {
                black_box(serde_json::from_str::<Value>(event).expect("JSON"));
            }
        });
    });
    group.finish();
}

fn linear(c: &mut Criterion) {
    let mut group = c.benchmark_group("linear");
    group.sample_size(20);
    for count in [1000, 10_000] {
        let body = framed(&events(count));
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(count.to_string(), |b| b.iter(|| turn(&body)));
    }
    group.finish();
}

fn text(c: &mut Criterion) {
    let chunks: Vec<String> = (0..8192).map(|n| WORDS[n % 8].to_owned()).collect();
    let whole = chunks.concat();
    let mut group = c.benchmark_group("text");
    group.throughput(Throughput::Bytes(whole.len() as u64));
    group.bench_function("checkpoint", |b| {
        b.iter(|| {
            let mut checkpoint = Checkpoint::new();
            for chunk in &chunks {
                checkpoint.push(chunk);
            }
            black_box(checkpoint.cut())
        });
    });
    let context =
        SeamContext { committed: whole.clone(), gap: None, next_number: None, open_fence: None };
    group.bench_function("seam_index_and_clean_reply", |b| {
        b.iter_batched(
            || context.clone(),
            |context| {
                let mut seam = Seam::new(context, 160);
                "Quite another matter is how bridges are built over rivers, which takes years of work and care."
                    .split_inclusive(' ')
                    .find_map(|chunk| seam.push(chunk))
                    .unwrap_or_else(|| seam.finish())
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, event, linear, text);
criterion_main!(benches);
