//! What must hold for every reply: chunks do not matter, nothing foreign is eaten, whole repeated sentences are.

use proptest::prelude::*;
use rejoin::text::{Seam, SeamContext, SeamCut, SeamKind};

fn context(committed: &str, next_number: Option<u64>) -> SeamContext {
    SeamContext { committed: committed.to_owned(), gap: None, next_number, open_fence: None }
}

fn cut(context: &SeamContext, pieces: &[&str]) -> SeamCut {
    let mut seam = Seam::new(context.clone(), 160);
    for piece in pieces {
        if let Some(cut) = seam.push(piece) {
            return cut;
        }
    }
    seam.finish()
}

/// Cuts a text at any characters.
fn pieces<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    for size in sizes.iter().cycle() {
        if rest.is_empty() || sizes.is_empty() {
            break;
        }
        let end = rest.char_indices().nth(*size).map_or(rest.len(), |(at, _)| at);
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces.push(rest);
    pieces
}

/// A sentence of words from one half of the alphabet: the other half has nothing in common with it.
fn sentence(letters: &'static str) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::string::string_regex(&format!("[{letters}]{{3,8}}")).unwrap(), 4..9)
        .prop_map(|words| {
            let mut text = words.join(" ");
            text[..1].make_ascii_uppercase();
            text + "."
        })
}

fn answer(letters: &'static str) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(sentence(letters), 3..9)
}

/// Texts full of what the rules look at.
fn soup() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "The lamp is lit. ",
        "lamp",
        " ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "2. ",
        "**",
        "```",
        "```python\n",
        "# ",
        "...",
        ":",
        "。",
        "好的，",
        "Sure",
        "!",
        " here is the rest:\n\n",
        "|",
        "|---|\n",
        "\u{301}",
        "é",
        "👩‍🚀",
        "\"",
        "”",
        "(continued)",
        "---\n",
        "It is late. ",
        "海は静かだ。",
    ]);
    prop::collection::vec(bits, 0..40).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_matter(committed in soup(), raw in soup(), sizes in prop::collection::vec(1_usize..9, 1..5)) {
        let context = context(&committed, Some(2));
        let whole = cut(&context, &[&raw]);
        prop_assert_eq!(&whole, &cut(&context, &pieces(&raw, &sizes)));
        prop_assert!(raw.is_char_boundary(whole.trim));
        prop_assert!(whole.lead.chars().all(char::is_whitespace));
    }

    #[test]
    fn a_foreign_reply_is_whole(committed in answer("a-m"), raw in answer("n-z")) {
        let cut = cut(&context(&committed.join(" "), None), &[&raw.join(" ")]);
        prop_assert_eq!(cut, SeamCut { kind: SeamKind::Clean, trim: 0, lead: " ".to_owned() });
    }

    #[test]
    fn repeated_sentences_go(committed in answer("a-z"), again in 1_usize..3, new in sentence("a-z"), sizes in prop::collection::vec(1_usize..9, 1..5)) {
        let repeated = committed[committed.len() - again..].join(" ");
        let raw = format!("{repeated} {new}");
        let cut = cut(&context(&committed.join(" "), None), &pieces(&raw, &sizes));
        prop_assert_eq!((cut.kind, cut.trim), (SeamKind::Restatement, repeated.len()));
    }

    #[test]
    fn repeated_lines_go(committed in answer("a-z"), again in 1_usize..3, new in sentence("a-z")) {
        let items: Vec<String> = committed.iter().map(|line| format!("- {line}\n")).collect();
        let repeated = items[items.len() - again..].concat();
        let raw = format!("{repeated}- {new}");
        let cut = cut(&context(&items.concat(), None), &[&raw]);
        prop_assert_eq!((cut.kind, cut.trim), (SeamKind::Restatement, repeated.len()));
    }

    #[test]
    fn short_repetitions_stay(word in "[a-z]{2,4}", times in 1_usize..6, before in sentence("a-z"), after in sentence("a-z")) {
        let chant = format!("{}.", vec![word; times].join(", "));
        let cut = cut(&context(&format!("{before} {chant}"), None), &[&format!("{chant} {after}")]);
        prop_assert_eq!((cut.kind, cut.trim), (SeamKind::Clean, 0));
    }

    #[test]
    fn a_refrain_stays(verses in prop::collection::vec(sentence("a-z"), 2..5), refrain in "[a-z]{3,6} [a-z]{3,6} [a-z]{3,6}", next in sentence("a-z")) {
        let song = verses.iter().flat_map(|verse| [verse, "\n", &refrain, "\n"]).collect::<String>();
        let cut = cut(&context(&song, None), &[&format!("{refrain}\n{next}\n")]);
        prop_assert_eq!((cut.kind, cut.trim), (SeamKind::Clean, 0));
    }

    #[test]
    fn the_expected_item_stays(items in answer("a-z")) {
        let list: String = items.iter().zip(1..).map(|(item, number)| format!("{number}. {item}\n")).collect::<Vec<_>>().concat();
        let next = items.len() as u64 + 1;
        let raw = format!("{next}. {}\n", items[items.len() - 1]);
        let cut = cut(&context(&list, Some(next)), &[&raw]);
        prop_assert_eq!((cut.kind, cut.trim), (SeamKind::Clean, 0));
    }
}

#[test]
fn a_clean_reply_is_let_go_after_sixty_letters() {
    let mut seam =
        Seam::new(context("The keeper lit the lamp. Far out a ship answered.", None), 160);
    let raw = "Boats put out from the village while gulls circled over the pier and women waited by the wall. More.";
    let held = raw
        .char_indices()
        .position(|(at, c)| seam.push(&raw[at..at + c.len_utf8()]).is_some())
        .unwrap();
    assert!(raw[..held].chars().filter(|c| c.is_alphanumeric()).count() <= 60, "{held}");
}

#[test]
fn time_up_waits_only_for_what_follows() {
    let committed = "The keeper lit the lamp. Far out, where the sandbank begins, a ship answered.";
    let mut seam = Seam::new(context(committed, None), 160);
    assert_eq!(seam.push("Far out, where the"), None);
    assert_eq!(seam.time_up(), None);
    assert_eq!(seam.push(" sandbank begins, a ship answered. Then"), None);
    assert_eq!(seam.push(" it went dark.").unwrap().kind, SeamKind::Restatement);
    let mut seam = Seam::new(context(committed, None), 160);
    assert_eq!(seam.push("Boats put out"), None);
    assert_eq!(
        seam.time_up().unwrap(),
        SeamCut { kind: SeamKind::Clean, trim: 0, lead: " ".to_owned() }
    );
}

#[test]
fn the_worst_texts_are_cheap() {
    for unit in ["a", "ab ", "na na na. ", "Usage: x\n\n"] {
        let committed = unit.repeat(20_000);
        let raw = unit.repeat(20_000);
        let started = std::time::Instant::now();
        let mut seam = Seam::new(context(&committed, None), 160);
        let _ = raw
            .char_indices()
            .find_map(|(at, c)| seam.push(&raw[at..at + c.len_utf8()]))
            .unwrap_or_else(|| seam.finish());
        println!("{unit:?}: {:?}", started.elapsed());
        assert!(started.elapsed().as_secs() < 10);
    }
}
