//! The proof that Rejoin is for: any single cut of any stream, at any byte, in any way, is healed
//! so that the app sees exactly what the unbroken stream would have shown.

mod support;

use rejoin::turn::{Endpoint, EventKind, Outgoing, Policy};
use serde_json::Value;
use support::proof::{
    Hand, Tally, all_streams, ends_of_events, looks_whole, prove, setup, short_streams, unbroken,
};
use support::*;

/// Every cut begins the answer again.
fn restarting() -> Policy {
    Policy { min_continue_tokens: u64::MAX, ..Policy::default() }
}

/// Cuts a stream at every byte; the next request, if any, brings it whole.
fn cut_everywhere(
    stream: &Stream,
    line: Line,
    ways: fn(usize) -> Vec<Way>,
    policy: &Policy,
) -> Tally {
    let body = with_newlines(&stream.body, line);
    let ends = ends_of_events(&body);
    assert_eq!(ends.len(), stream.events.len(), "{} has events of several lines", stream.name);
    let whole = Hand::of(&stream.told);
    let known = unbroken(&body, &whole);
    let in_one_piece = unary(&stream.told);
    let label = format!("{} ({line:?})", stream.name);
    let mut tally = Tally::default();
    for at in 0..=body.len() {
        for way in ways(at) {
            let run = Pair::new(setup(policy.clone()), |k, request| {
                assert_eq!(&*request.body, BODY, "a restart sends the caller's own body");
                match (k, request.endpoint) {
                    (0, _) => Reply::cut(&body.as_bytes()[..at], way),
                    (1, Endpoint::Stream) => Reply::whole(&body),
                    (1, Endpoint::Unary) => Reply::whole(&in_one_piece),
                    _ => panic!("{label} cut at {at} by {way:?}: a third request"),
                }
            })
            .run();
            let cut = || format!("{label} cut at {at} by {way:?}");
            match looks_whole(stream, &ends, at, way) {
                Some(prefix) if prefix != whole => {
                    tally.undecidable.push((at, way));
                    let EventKind::Completed(known) = run.last() else { panic!("{}", cut()) };
                    assert_eq!(run.requests.len(), 1, "{}", cut());
                    assert_eq!(Hand::after(&run).unwrap(), prefix, "{}", cut());
                    tally.check(&cut, &run, &prefix, known);
                }
                _ => tally.check(&cut, &run, &whole, &known),
            }
        }
    }
    tally
}

const EVERY_WAY: fn(usize) -> Vec<Way> = |_| Way::ALL.to_vec();
const TURN_BY_TURN: fn(usize) -> Vec<Way> = |at| vec![Way::ALL[at % 4]];

#[test]
fn the_uncut_streams_say_what_a_slow_reader_says() {
    for stream in all_streams() {
        let run = Pair::new(setup(Policy::default()), |_, _| Reply::whole(&stream.body)).run();
        assert_invariants(&run);
        let hand = Hand::after(&run).unwrap();
        assert_eq!(hand.differs(&Hand::of(&stream.told)), None, "{}", stream.name);
        if let Some(facts) = &stream.facts {
            use sha2::Digest as _;
            let told = facts["text_sha256"].as_str().unwrap();
            let byte = |at: usize| u8::from_str_radix(&told[2 * at..2 * at + 2], 16).unwrap();
            let hash: Vec<u8> = (0..told.len() / 2).map(byte).collect();
            assert_eq!(sha2::Sha256::digest(&hand.text)[..], hash, "{}", stream.name);
            let calls = facts["calls"].as_array().unwrap();
            assert_eq!(calls.len(), hand.calls.len(), "{}", stream.name);
        }
    }
}

#[test]
fn a_cut_anywhere_in_any_way_is_healed_by_a_restart() {
    prove("restart", &all_streams(), |stream| {
        cut_everywhere(stream, Line::AsIs, EVERY_WAY, &restarting())
    });
}

#[test]
fn other_line_ends_heal_as_well() {
    for line in [Line::Lf, Line::Cr] {
        prove(&format!("restart, {line:?}"), &short_streams(), |stream| {
            cut_everywhere(stream, line, TURN_BY_TURN, &restarting())
        });
    }
}

#[test]
fn a_cut_anywhere_is_healed_by_an_answer_in_one_piece() {
    let policy = Policy { stream_drops_before_fallback: 1, ..restarting() };
    prove("non-streaming", &short_streams(), |stream| {
        cut_everywhere(stream, Line::AsIs, TURN_BY_TURN, &policy)
    });
}

/// How a well-behaved model goes on: exactly the rest, as one stream of text.
fn rest_of(stream: &Stream, request: &Outgoing, piece: usize, eats_spaces: bool) -> Reply {
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let committed = match body["contents"].as_array().unwrap().as_slice() {
        [_] => return Reply::whole(&stream.body),
        [_, model, user] => {
            assert_eq!(user["role"], "user");
            model["parts"][0]["text"].as_str().unwrap()
        }
        other => panic!("{other:?}"),
    };
    let rest = stream.told.text.strip_prefix(committed).expect("committed text is a prefix");
    let rest = if eats_spaces { rest.trim_start_matches(' ') } else { rest };
    if request.endpoint == Endpoint::Unary {
        let parts = vec![serde_json::json!({ "text": rest })];
        return Reply::whole(unary(&Told {
            parts,
            finish: stream.told.finish.clone(),
            ..Told::default()
        }));
    }
    let chars: Vec<char> = rest.chars().collect();
    let mut body = String::new();
    for piece in chars.chunks(piece) {
        body += &sse(&text(&piece.iter().collect::<String>()));
    }
    Reply::whole(body + &sse(&finish(&stream.told.finish)))
}

/// Cuts a stream of text at every byte; the model goes on from the committed text.
fn continued_everywhere(stream: &Stream, eats_spaces: bool) -> Tally {
    let ends = ends_of_events(&stream.body);
    let full = &stream.told.text;
    let (mut tally, mut continued) = (Tally::default(), 0);
    for at in 0..=stream.body.len() {
        let way = Way::ALL[at % 4];
        let policy = Policy {
            min_continue_tokens: 1,
            stream_drops_before_fallback: 1 + u32::from(at % 8 < 6),
            ..Policy::default()
        };
        let piece = [1, 5, 23, 400][at / 4 % 4];
        let run = Pair::new(setup(policy), |k, request| match k {
            0 => Reply::cut(&stream.body.as_bytes()[..at], way),
            1 => rest_of(stream, request, piece, eats_spaces),
            _ => panic!("{} cut at {at} by {way:?}: a third request", stream.name),
        })
        .run();
        tally.cuts += 1;
        assert_invariants(&run);
        let EventKind::Completed(completed) = run.last() else {
            tally.violations.push(format!("{} cut at {at}: {:?}", stream.name, run.last()));
            continue;
        };
        let prefix = looks_whole(stream, &ends, at, way).filter(|prefix| prefix.text != *full);
        let expected = prefix.as_ref().map_or(full, |prefix| &prefix.text);
        if prefix.is_some() {
            tally.undecidable.push((at, way));
        }
        continued += usize::from(run.requests.len() > 1 && *run.requests[1].body != *BODY);
        if eats_spaces && !gap_is_known(&run) {
            continue;
        }
        if completed.text != *expected {
            let wrong = first_difference(&completed.text, expected);
            let cut = format!("{} cut at {at} by {way:?}, pieces of {piece}", stream.name);
            tally.violations.push(format!("{cut}: {wrong}"));
        }
    }
    tally.continued = continued;
    tally
}

/// True if the dead attempt had shown more than white space after the committed text: only then
/// does anyone know which white space stands there.
fn gap_is_known(run: &Run) -> bool {
    let mut screen = Screen::default();
    for event in &run.events {
        if let EventKind::Reset(reset) = &event.kind {
            let kept = usize::try_from(reset.keep_text_bytes).unwrap();
            return !screen.text[kept..].trim().is_empty();
        }
        screen.apply(&event.kind);
    }
    true
}

fn plain_texts(streams: Vec<Stream>) -> Vec<Stream> {
    streams.into_iter().filter(Stream::is_plain_text).collect()
}

#[test]
fn a_cut_anywhere_is_continued_without_a_seam() {
    prove("continuation", &plain_texts(all_streams()), |stream| {
        continued_everywhere(stream, false)
    });
}

#[test]
fn a_model_that_leaves_out_the_spaces_leaves_no_seam_either() {
    prove("continuation without spaces", &plain_texts(short_streams()), |stream| {
        continued_everywhere(stream, true)
    });
}
