//! However the network cuts a body into pieces, the app sees the same events; and whatever the
//! bytes are, the turn ends.

mod support;

use flate2::Compression;
use flate2::write::{GzDecoder, GzEncoder};
use proptest::prelude::*;
use rejoin::gemini::FrameDecoder;
use rejoin::turn::{
    Cause::{self, ClosedEarly, Malformed, NotAStream, Refused, ServerError},
    EventKind, Policy, TurnSetup,
};
use serde_json::{Value, json};
use std::io::Write as _;
use support::*;

fn setup(policy: Policy) -> TurnSetup {
    TurnSetup { turn_id: "t".to_owned(), body: BODY.to_owned(), policy, ..TurnSetup::default() }
}

/// One attempt, so that what a body is worth is what the turn is worth.
fn once() -> Policy {
    Policy { max_attempts: 1, ..Policy::default() }
}

/// The turn that these pieces make; the same body again if it needs a second request.
fn turn_of(pieces: &[&[u8]], way: Way, headers: &[(&str, &str)], policy: &Policy) -> Run {
    let run = Pair::new(setup(policy.clone()), |_, _| {
        let reply = Reply::pieces(pieces.iter().copied(), way);
        headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
    })
    .run();
    assert_invariants(&run);
    run
}

fn in_one(body: &[u8], way: Way) -> Run {
    turn_of(&[body], way, &[], &once())
}

fn shown(run: &Run) -> Screen {
    Screen::of(run.events.iter().map(|event| &event.kind))
}

fn cause(run: &Run) -> Option<Cause> {
    run.events.iter().find_map(|event| match &event.kind {
        EventKind::Dropped(dropped) => Some(dropped.cause),
        _ => None,
    })
}

/// Cuts `body` into pieces of these lengths, over and over.
fn segments<'b>(body: &'b [u8], lengths: &[usize]) -> Vec<&'b [u8]> {
    let (mut rest, mut pieces) = (body, Vec::new());
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*length).clamp(1, rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// As much as can be read of a part of a gzip body.
fn gunzip(part: &[u8]) -> Vec<u8> {
    let mut decoder = GzDecoder::new(Vec::new());
    decoder.write_all(part).unwrap();
    decoder.flush().unwrap();
    decoder.get_ref().clone()
}

/// Bodies that say "One. Two." in every framing that occurs, and some that break.
fn odd_bodies() -> Vec<(&'static str, Vec<u8>)> {
    let first = sse(&text("One. "));
    let second = sse(&text("Two."));
    let stop = sse(&finish("STOP"));
    let plain = format!("{first}{second}{stop}");
    let lf = with_newlines(&plain, Line::Lf);
    let array: Vec<Value> = [text("One. "), text("Two."), finish("STOP")].into();
    let pretty = serde_json::to_string_pretty(&text("Two.")).unwrap().replace('\n', "\r\ndata: ");
    let bodies = [
        ("plain", plain.clone()),
        ("cr", with_newlines(&plain, Line::Cr)),
        ("byte order mark", format!("\u{feff}{plain}")),
        ("comments", format!(": hello\r\n\r\n{first}:\r\n{second}: x\r\n\r\n{stop}")),
        (
            "keep-alives",
            format!("data: : keepalive\n\n{first}event: ping\ndata: {{}}\n\n{second}{stop}"),
        ),
        ("done", format!("{plain}data: [DONE]\n\n")),
        ("fields", lf.replace("data: ", "event: message\nid: 7\nretry: 10\ndata: ")),
        ("no space", plain.replace("data: ", "data:")),
        ("several data lines", format!("{first}data: {pretty}\r\n\r\n{stop}")),
        ("no blank line at the end", plain.trim_end().to_owned()),
        ("array", serde_json::to_string(&array).unwrap()),
        ("pretty array", serde_json::to_string_pretty(&array).unwrap().replace('\n', "\r\n")),
        ("bare error", format!("{first}{second}{}", error(503))),
        ("error list", format!("{first}{second}[{}]\r\n", error(503))),
        (
            "error as data",
            format!("{first}{second}data: {}\r\n\r\n", json!({"error": {"code": 500}})),
        ),
        ("error first", error(429)),
        ("page", "<!DOCTYPE html>\n<p>Log in</p>".to_owned()),
        ("prose", "upstream connect error".to_owned()),
        ("not a response", "data: {\"this\": 1}\r\n\r\n".to_owned()),
        ("separators", sse(&text("One.\u{2028}\u{2029}\u{85}\u{b}\u{c} Two.")) + &stop),
        ("half a character", plain.replace("Two", "\u{1F1EF}\u{1F1F5}e\u{301}")),
        ("nothing", String::new()),
    ];
    bodies.into_iter().map(|(name, body)| (name, body.into_bytes())).collect()
}

#[test]
fn every_framing_says_the_same() {
    let broken = [
        "bare error",
        "error list",
        "error as data",
        "error first",
        "page",
        "prose",
        "not a response",
        "nothing",
    ];
    for (name, body) in odd_bodies().iter().filter(|(name, _)| !broken.contains(name)) {
        let run = in_one(body, Way::Clean);
        assert!(matches!(run.last(), EventKind::Completed(_)), "{name}: {:?}", run.last());
        let plain = ["separators", "half a character"].contains(name);
        assert!(plain || shown(&run).text == "One. Two.", "{name}: {:?}", shown(&run).text);
    }
    let causes: Vec<_> = odd_bodies()
        .iter()
        .filter(|(name, _)| broken.contains(name))
        .map(|(_, body)| cause(&in_one(body, Way::Clean)).unwrap())
        .collect();
    let expected = [
        ServerError,
        ServerError,
        ServerError,
        Refused,
        NotAStream,
        NotAStream,
        Malformed,
        ClosedEarly,
    ];
    assert_eq!(causes, expected);
}

#[test]
fn separators_inside_json_are_text() {
    let body = sse(&text("a\u{2028}b\u{2029}c\u{85}d")) + &sse(&finish("STOP"));
    assert_eq!(shown(&in_one(body.as_bytes(), Way::Clean)).text, "a\u{2028}b\u{2029}c\u{85}d");
}

#[test]
fn pieces_of_any_size_give_the_events_of_the_whole() {
    let mut bodies: Vec<(String, Vec<u8>)> =
        odd_bodies().into_iter().map(|(name, body)| (name.to_owned(), body)).collect();
    let streams = own_streams().into_iter().chain(recordings());
    bodies.extend(streams.map(|stream| (stream.name, stream.body.into_bytes())));
    for (name, body) in &bodies {
        let whole = in_one(body, Way::Clean).jsonl();
        for size in [1, 2, 3, 7, 64, 1000] {
            let run = turn_of(&segments(body, &[size]), Way::Clean, &[], &once());
            assert_eq!(run.jsonl(), whole, "{name} in pieces of {size}");
        }
    }
    println!("{} bodies in pieces of 1, 2, 3, 7, 64 and 1000 bytes", bodies.len());
}

#[test]
fn a_body_split_in_two_anywhere_gives_the_events_of_the_whole() {
    for (name, body) in odd_bodies() {
        for way in Way::ALL {
            let whole = in_one(&body, way).jsonl();
            for at in 0..=body.len() {
                let run = turn_of(&[&body[..at], &body[at..]], way, &[], &once());
                assert_eq!(run.jsonl(), whole, "{name} split at {at}, ended by {way:?}");
            }
        }
    }
}

#[test]
fn bytes_that_are_no_utf8_are_malformed_and_never_shown() {
    let body = (sse(&text("One. ")) + &sse(&text("TWO")) + &sse(&finish("STOP"))).into_bytes();
    let at = body.windows(3).position(|window| window == b"TWO").unwrap();
    for bad in [&b"\xff"[..], b"\xc3\x28", b"\xed\xa0\x80", b"\xe2\x80", b"\xf0\x9f\x98"] {
        let mut body = body.clone();
        body.splice(at..at + 3, bad.iter().copied());
        for size in [1, 5, 10_000] {
            let run = turn_of(&segments(&body, &[size]), Way::Clean, &[], &once());
            assert_eq!(cause(&run), Some(Cause::Malformed), "{bad:?}");
            assert!(!run.jsonl().contains('\u{fffd}'));
            assert_eq!(shown(&run).longest, "One. ");
        }
    }
}

const GZIP: &[(&str, &str)] = &[("content-encoding", "gzip")];

#[test]
fn gzip_in_any_pieces_is_the_same_and_cut_anywhere_is_never_whole() {
    for stream in own_streams().iter().filter(|stream| stream.body.len() < 4000) {
        let whole = in_one(stream.body.as_bytes(), Way::Clean);
        let packed = gzip(stream.body.as_bytes());
        for size in [1, 2, 13, 500, 100_000] {
            let run = turn_of(&segments(&packed, &[size]), Way::Clean, GZIP, &once());
            assert_eq!(run.jsonl(), whole.jsonl(), "{} in pieces of {size}", stream.name);
        }
        for at in 0..packed.len() {
            for way in Way::ALL {
                let run = turn_of(&[&packed[..at]], way, GZIP, &once());
                if let EventKind::Completed(_) = run.last() {
                    // Nothing but the grace time after a finish reason: a server that holds the
                    // connection open holds the trailer back as well.
                    assert_eq!(way, Way::Silence, "{} cut at {at} looks whole", stream.name);
                    let plain = in_one(&gunzip(&packed[..at]), Way::Silence);
                    assert_eq!(run.jsonl(), plain.jsonl(), "{} cut at {at}", stream.name);
                }
            }
        }
    }
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let policy = Policy { max_event_bytes: 4096, ..once() };
    let endless = "x".repeat(100_000);
    let mut bodies: Vec<String> =
        ["data: ", ": ", "", "{\"a\": \"", "[{\"a\": \"", "data: {\"a\": \""]
            .map(|opening| opening.to_owned() + &endless)
            .into();
    bodies.push("data: many lines of one event\n".repeat(5000));
    for body in &bodies {
        for size in [100, 4000, 1_000_000] {
            let run = turn_of(&segments(body.as_bytes(), &[size]), Way::Clean, &[], &policy);
            assert_eq!(cause(&run), Some(Cause::TooLarge), "{:?} by {size}", &body[..9]);
        }
    }
    let mut decoder = FrameDecoder::new(4096);
    let mut taken = 0;
    for piece in vec![b'x'; 1_000_000].chunks(1000) {
        decoder.feed(piece);
        taken += piece.len();
        if decoder.next_frame().is_err() {
            break;
        }
    }
    assert!(taken <= 4096 + 1000, "{taken} bytes were taken");
    let exact = sse(&text(&"x".repeat(32 << 10))) + &sse(&finish("STOP"));
    assert!(matches!(in_one(exact.as_bytes(), Way::Clean).last(), EventKind::Completed(_)));
}

/// Garbage that knows the words of the wire.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        proptest::sample::select(vec![
            "data:",
            "data: ",
            "event: ping",
            ":",
            "[DONE]",
            "{",
            "}",
            "[",
            "]",
            ",",
            "\"",
            "\\",
            "\r",
            "\n",
            "\r\n",
            "\r\n\r\n",
            "\n\n",
            "{}",
            "<",
            "\u{feff}",
            "\u{2028}",
            "null",
            "-1e999",
            "id:",
            "{\"candidates\":",
            "{\"error\":",
            "\"text\":",
            "\"parts\":[",
            "{\"functionCall\":{}}",
            "{\"usageMetadata\":{\"promptTokenCount\":-1}}",
            "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n\n",
        ])
        .prop_map(|word| word.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 1..6),
    ];
    proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(chances(400))]

    #[test]
    fn any_segmentation_gives_equal_events(
        which in any::<prop::sample::Index>(),
        lengths in proptest::collection::vec(1usize..200, 1..12),
        packed in any::<bool>(),
        way in proptest::sample::select(Way::ALL.to_vec()),
    ) {
        let mut bodies: Vec<Vec<u8>> = odd_bodies().into_iter().map(|(_, body)| body).collect();
        bodies.extend(own_streams().into_iter().map(|stream| stream.body.into_bytes()));
        let plain = which.get(&bodies);
        let (body, headers) = if packed { (gzip(plain), GZIP) } else { (plain.clone(), &[][..]) };
        let whole = turn_of(&[&body], way, headers, &Policy::default());
        let run = turn_of(&segments(&body, &lengths), way, headers, &Policy::default());
        prop_assert_eq!(run.jsonl(), whole.jsonl());
    }

    #[test]
    fn garbage_ends_the_turn_the_same_way_in_any_pieces(
        body in garbage(),
        lengths in proptest::collection::vec(1usize..9, 1..6),
        way in proptest::sample::select(Way::ALL.to_vec()),
    ) {
        let whole = turn_of(&[&body], way, &[], &Policy::default());
        let run = turn_of(&segments(&body, &lengths), way, &[], &Policy::default());
        prop_assert_eq!(run.jsonl(), whole.jsonl());
    }

    #[test]
    fn broken_gzip_never_panics_and_never_shows_what_was_not_sent(
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
        size in 1usize..300,
    ) {
        let stream = sse(&text("One. ")) + &sse(&text("Two.")) + &sse(&finish("STOP"));
        let mut packed = gzip(stream.as_bytes());
        let at = at.index(packed.len());
        packed[at] ^= 1 << bit;
        let run = turn_of(&segments(&packed, &[size]), Way::Clean, GZIP, &once());
        if let EventKind::Completed(completed) = run.last() {
            prop_assert_eq!(&completed.text, "One. Two.");
        }
    }
}
