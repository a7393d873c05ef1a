//! What holds for every text: the cut is a safe prefix, and pieces make no difference.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};
use rejoin::text::{Checkpoint, Cut};
use unicode_segmentation::GraphemeCursor;

fn cut(text: &str) -> Option<Cut> {
    let mut checkpoint = Checkpoint::new();
    checkpoint.push(text);
    checkpoint.cut()
}

/// Texts made of what matters to a checkpoint, so that markup and ends meet often.
#[allow(clippy::too_many_lines)] // One list.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "Word",
        "word",
        "Dr",
        "etc",
        "z. B",
        "Oktober",
        "I",
        "é",
        "e\u{301}",
        "\u{301}",
        "7",
        "42",
        "1987",
        ".",
        ".",
        ".",
        "!",
        "?",
        "…",
        "...",
        "。",
        "！",
        "．",
        "。",
        " ",
        " ",
        " ",
        "  ",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\t",
        "\"",
        "'",
        "“",
        "”",
        "「",
        "」",
        "（",
        "）",
        "(",
        ")",
        "[",
        "]",
        "](",
        "![",
        "«",
        "»",
        "*",
        "**",
        "_",
        "__",
        "~~",
        "`",
        "``",
        "```",
        "```rust\n",
        "~~~",
        "$",
        "$$",
        "\\",
        "\\(",
        "\\)",
        "<",
        "<b>",
        ">",
        "> ",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "10. ",
        "   ",
        "    ",
        "# ",
        "|",
        "| a | b |\n",
        "| - | - |\n",
        "---\n",
        "https://a.b/c?d",
        "main.rs",
        "猫",
        "日本",
        "と",
        "😀",
        "👨\u{200d}👩",
        "\u{fe0f}",
        "🇫🇷",
        "\u{200d}",
        "न",
        "्",
        "ว",
        "한",
        "=",
        ",",
        ":",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn is_grapheme_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(false)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(4000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_cut_is_a_prefix_of_whole_graphemes_and_not_blank(text in texts()) {
        if let Some(cut) = cut(&text) {
            prop_assert!(cut.len <= text.len());
            prop_assert!(text.is_char_boundary(cut.len));
            prop_assert!(is_grapheme_boundary(&text, cut.len), "{:?}", &text[..cut.len]);
            prop_assert!(!text[..cut.len].trim().is_empty());
            prop_assert!(cut.next_number.is_none_or(|n| (1..=1000).contains(&n)));
        }
    }

    #[test]
    fn pieces_make_no_difference(text in texts(), sizes in prop::collection::vec(1_usize..9, 1..20)) {
        let mut checkpoint = Checkpoint::new();
        let chars: Vec<char> = text.chars().collect();
        let (mut at, mut sizes) = (0, sizes.iter().cycle());
        while at < chars.len() {
            let end = chars.len().min(at + sizes.next().copied().unwrap_or(1));
            checkpoint.push(&chars[at..end].iter().collect::<String>());
            at = end;
            let so_far: String = chars[..at].iter().collect();
            prop_assert_eq!(checkpoint.cut(), cut(&so_far));
            prop_assert_eq!(checkpoint.len(), so_far.len());
        }
        prop_assert_eq!(checkpoint.cut(), cut(&text));
    }

    #[test]
    fn what_is_kept_stays_kept(text in texts(), more in texts()) {
        let Some(first) = cut(&text) else { return Ok(()) };
        let committed = &text[..first.len];
        let mut checkpoint = Checkpoint::continuing(committed);
        prop_assert_eq!(checkpoint.cut(), Some(first.clone()), "{:?}", committed);
        checkpoint.push(&more);
        prop_assert!(checkpoint.cut().is_some_and(|cut| cut.len >= committed.len()));
    }

    #[test]
    fn what_is_certain_stays_certain(text in texts(), more in texts()) {
        // A cut that leaves a visible character after its end has been decided for good.
        let Some(first) = cut(&text) else { return Ok(()) };
        if !text[first.len..].chars().any(|c| !c.is_whitespace() && c.is_alphanumeric()) { return Ok(()); }
        let later = cut(&format!("{text}{more}"));
        prop_assert!(later.is_some_and(|later| later.len >= first.len));
    }

    #[test]
    fn plain_prose_ends_where_a_plain_reader_says(text in plain_texts()) {
        prop_assert_eq!(cut(&text).map(|cut| cut.len), plain_cut(&text), "{:?}", text);
    }

    #[test]
    fn markup_is_never_torn(text in markup_texts(), percent in 30_usize..100) {
        // The text drops somewhere; CommonMark judges the cut with the rest of the text at hand.
        let chars = text.chars().count();
        let seen: String = text.chars().take(chars * percent / 100).collect();
        if let Some(cut) = cut(&seen) {
            let torn = torn_by(&text, cut.len, cut.open_fence.is_some());
            prop_assert_eq!(torn, None, "{:?} | {:?}", &text[..cut.len], &text[cut.len..]);
        }
    }
}

/// Words, ends and newlines without markup: simple enough for a reader of ten lines.
fn plain_texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Wort",
        "wort",
        "und",
        "Haus",
        "猫です",
        "雨だ",
        ".",
        "!",
        "?",
        "。",
        "！",
        "？",
        " ",
        " ",
        "\n",
    ]);
    // Four spaces may begin indented code, which is markup.
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().replace("    ", " "))
}

/// The rules for plain prose, read again from its end: slow, and written apart from the checkpoint.
fn plain_cut(text: &str) -> Option<usize> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let is_end = |c: char| ".!?。！？".contains(c);
    let is_wide = |c: char| !c.is_ascii();
    (0..chars.len()).rev().find_map(|i| {
        let (at, c) = chars[i];
        let end = at + c.len_utf8();
        if text[..end].trim().is_empty() {
            return None;
        }
        if c == '\n' {
            return Some(end);
        }
        let next = chars.get(i + 1).map(|n| n.1);
        if !is_end(c) || next.is_some_and(is_end) {
            return None;
        }
        let start = (0..=i).rev().take_while(|j| is_end(chars[*j].1)).last()?;
        let run: Vec<char> = chars[start..=i].iter().map(|c| c.1).collect();
        let lonely = start == 0 || chars[start - 1].1.is_whitespace();
        let wide = run.iter().any(|c| "。！？".contains(*c));
        let marked = wide || run.iter().any(|c| "!?".contains(*c));
        let doubled = |w: &[char]| w[0] == w[1] && ".。".contains(w[0]);
        // Dots after one another are an ellipsis, unless another mark comes last.
        let last_dots = run.windows(2).rposition(doubled);
        let last_mark = run.iter().rposition(|c| "!?！？".contains(*c) || *c == '。');
        let ellipsis = last_dots.is_some_and(|d| {
            run[d + 2..].iter().all(|c| *c == '.') && last_mark.is_none_or(|m| m <= d + 1)
        });
        if ellipsis || (lonely && !marked) {
            return None;
        }
        let after = chars[i + 1..].iter().map(|c| c.1);
        let following = after.clone().find(|c| *c != ' ');
        let safe = match next {
            None => wide || (marked && !lonely),
            Some(' ' | '\n') => {
                wide || following == Some('\n') || !following.is_some_and(char::is_lowercase)
            }
            Some(n) => wide || is_wide(n),
        };
        safe.then_some(end)
    })
}

/// Markdown as models write it.
fn markup_texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Some words. More words",
        " and *an aside. With* an end",
        " **Bold. Text** here",
        " a `code. Span` too",
        " [a link. To](http://a.b/c) it",
        " ![an image. Of](x.png) it",
        " <https://a.b/c> it",
        ". ",
        "! ",
        "? ",
        ".\n",
        "\n",
        "\n\n",
        "\n\n- An item. Of a list",
        "\n\n1. A first. Thing",
        "\n2. A second. Thing",
        "\n\n# A title. Of it\n\n",
        "\n\n```rust\nlet a = 1.\nlet b = 2. + c\n```\n\n",
        "\n\n| a | b |\n| - | - |\n| 1. X | 2. Y |\n\n",
        "\n\n> A quote. Of it\n> goes on. Here",
        " It is 2 * 3. So",
        " snake_case_name. So",
        " $5. So",
        " He said \"Go.\" So",
        " (In brackets. So.) So",
    ]);
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

/// The first markup that `CommonMark` sees in the text and the cut would tear.
fn torn_by(text: &str, at: usize, in_fence: bool) -> Option<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(text, options).into_offset_iter().find_map(|(event, range)| {
        let inline = matches!(
            event,
            Event::Start(
                Tag::Emphasis
                    | Tag::Strong
                    | Tag::Strikethrough
                    | Tag::Link { .. }
                    | Tag::Image { .. }
                    | Tag::TableRow
                    | Tag::TableHead
            ) | Event::Code(_)
        );
        let fence = matches!(event, Event::Start(Tag::CodeBlock(_)));
        let inside = range.start < at && at < range.end;
        // A row's range may hold its newline, a fence's everything up to the end.
        let whole_row = text[at..range.end.max(at)].trim().is_empty();
        let torn = inside
            && ((inline && !whole_row)
                || (fence && !in_fence && !text[at..range.end].trim().is_empty()));
        torn.then(|| format!("{event:?} {range:?}"))
    })
}

#[test]
fn the_cost_of_a_character_does_not_grow() {
    let time = |n: usize| {
        let text = format!("{} It ended. ", "and so on, ".repeat(n));
        let deep = format!("{}{}", "(*[".repeat(n), " word. ".repeat(n));
        let started = std::time::Instant::now();
        let mut checkpoint = Checkpoint::new();
        for c in [text.as_str(), "\n\n", deep.as_str()] {
            for piece in c.as_bytes().chunks(7) {
                checkpoint.push(std::str::from_utf8(piece).expect("the text is ASCII"));
                std::hint::black_box(checkpoint.cut());
            }
        }
        started.elapsed()
    };
    time(2_000);
    let (small, large) = (time(4_000), time(40_000));
    // Ten times the text: a rescan would take a hundred times as long.
    assert!(large < small * 40 + std::time::Duration::from_millis(50), "{small:?} {large:?}");
}

#[test]
fn nothing_is_committed_of_nothing() {
    assert_eq!(Checkpoint::default().cut(), None);
    assert!(Checkpoint::new().is_empty());
    assert_eq!(Checkpoint::continuing("").cut(), None);
}

#[test]
fn a_kept_fence_is_known_to_be_open() {
    let cut = Checkpoint::continuing("Use:\n```rust\nlet x = 1;\n").cut().expect("it was kept");
    let fence = cut.open_fence.expect("the fence is open");
    assert_eq!((fence.marker, fence.width, fence.info.as_str()), ('`', 3, "rust"));
}

#[test]
fn a_kept_stop_stays_although_it_would_be_undecided() {
    let mut checkpoint = Checkpoint::continuing("It rains. It stops.");
    checkpoint.push(" We g");
    assert_eq!(checkpoint.cut().map(|cut| cut.len), Some("It rains. It stops.".len()));
    checkpoint.push("o. Then");
    assert_eq!(checkpoint.cut().map(|cut| cut.len), Some("It rains. It stops. We go.".len()));
}
