//! Real and made-up replies to a continuation, fed in every way: what is shown must be what a reader wants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rejoin::text::Fence;
use rejoin::text::{Seam, SeamContext, SeamCut, SeamKind};
use serde_json::Value;

fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("REJOIN_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    folder.join("seams/cases.json").exists().then_some(folder)
}

fn load(path: &Path) -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_default()
}

fn context(case: &Value) -> SeamContext {
    let committed = text(case, "committed");
    let mut open_fence = None;
    for line in committed.lines() {
        let bare = line.trim_start();
        let width = bare.len() - bare.trim_start_matches('`').len();
        if width >= 3 {
            open_fence = match open_fence {
                None => Some(Fence { marker: '`', width, info: bare[width..].trim().to_owned() }),
                Some(_) => None,
            };
        }
    }
    let instructed = text(case, "instruction").split("next number is ").nth(1);
    let next_number = instructed
        .and_then(|rest| rest.trim_end_matches('.').parse().ok())
        .or_else(|| case["next_number"].as_u64());
    SeamContext {
        committed: committed.to_owned(),
        gap: case["gap"].as_str().map(str::to_owned),
        next_number,
        open_fence,
    }
}

/// The cut, and how much had come when it was made.
fn feed<'a>(context: &SeamContext, pieces: impl IntoIterator<Item = &'a str>) -> (SeamCut, usize) {
    let mut seam = Seam::new(context.clone(), 160);
    let mut came = 0;
    for piece in pieces {
        came += piece.len();
        if let Some(cut) = seam.push(piece) {
            return (cut, came);
        }
    }
    (seam.finish(), came)
}

fn by_char(raw: &str) -> impl Iterator<Item = &str> {
    raw.char_indices().map(|(at, c)| &raw[at..at + c.len_utf8()])
}

/// White space does not count, save in our own cases.
fn folded(text: &str, exact: bool) -> String {
    if exact {
        return text.to_owned();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Numbers at the start of lines do not count where the model got them wrong.
fn unnumbered(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn is_right(case: &Value, cut: &SeamCut) -> bool {
    let raw = text(case, "raw");
    let committed = text(case, "committed");
    let shown = format!("{}{}", cut.lead, &raw[cut.trim..]);
    let exact = case["source"].is_null() || std::env::var_os("SEAM_EXACT").is_some();
    let whole = |shown: &str, reset: bool| {
        folded(&if reset { shown.to_owned() } else { format!("{committed}{shown}") }, exact)
    };
    let reset = cut.kind == SeamKind::Restart;
    let renumbered = text(case, "kind") == "renumbered";
    let fits = |wanted: &Value| {
        let wanted_reset = wanted["reset"].as_bool().unwrap_or(false);
        let (mut have, mut want) =
            (whole(&shown, reset), whole(text(wanted, "shown"), wanted_reset));
        if renumbered {
            (have, want) = (unnumbered(&have), unnumbered(&want));
        }
        have == want && reset == wanted_reset
    };
    fits(case) || case["also"].as_array().is_some_and(|also| also.iter().any(fits))
}

fn name(kind: SeamKind) -> &'static str {
    match kind {
        SeamKind::Clean => "clean",
        SeamKind::Restatement => "restatement",
        SeamKind::Preface => "preface",
        SeamKind::PrefaceAndRestatement => "preface+restatement",
        SeamKind::Restart => "restart",
    }
}

struct Score {
    right: usize,
    all: usize,
    clear_right: usize,
    clear: usize,
    eaten: Vec<String>,
    uneven: Vec<String>,
}

fn score(title: &str, cases: &[Value], pieces: &BTreeMap<String, Vec<String>>) -> Score {
    let mut score =
        Score { right: 0, all: 0, clear_right: 0, clear: 0, eaten: Vec::new(), uneven: Vec::new() };
    let mut table: BTreeMap<(String, &str), [usize; 2]> = BTreeMap::new();
    let mut held = Vec::new();
    for case in cases {
        let (id, raw) = (text(case, "id"), text(case, "raw"));
        let context = context(case);
        let (cut, _) = feed(&context, [raw]);
        let (slow, came) = feed(&context, by_char(raw));
        let fours: Vec<&str> = {
            let ends: Vec<usize> =
                raw.char_indices().map(|(at, _)| at).step_by(4).chain([raw.len()]).collect();
            ends.windows(2).map(|two| &raw[two[0]..two[1]]).collect()
        };
        let (odd, _) = feed(&context, fours);
        let real = pieces.get(id).map(|pieces| feed(&context, pieces.iter().map(String::as_str)).0);
        if slow != cut || odd != cut || real.is_some_and(|real| real != cut) {
            score.uneven.push(id.to_owned());
        }
        let right = is_right(case, &cut);
        let clear = case["also"].is_null() && !case["fuzzy"].as_bool().unwrap_or(false);
        score.all += 1;
        score.right += usize::from(right);
        score.clear += usize::from(clear);
        score.clear_right += usize::from(clear && right);
        table.entry((text(case, "kind").to_owned(), name(cut.kind))).or_default()
            [usize::from(right)] += 1;
        if text(case, "kind") == "clean" {
            held.push(raw[..came].chars().count());
            if cut.kind != SeamKind::Clean || !raw[..cut.trim].trim().is_empty() {
                score.eaten.push(id.to_owned());
            }
        }
        if !right {
            let shown: String = raw[cut.trim..].chars().take(60).collect();
            println!(
                "  wrong {id} {}{}: {} trim {} lead {:?} -> {shown:?}",
                text(case, "kind"),
                if clear { "" } else { " (unclear)" },
                name(cut.kind),
                cut.trim,
                cut.lead
            );
        }
    }
    println!(
        "{title}: {}/{} right; clear {}/{}",
        score.right, score.all, score.clear_right, score.clear
    );
    println!("  {:<22}{:<22}{:>6}{:>6}", "labelled", "decided", "right", "wrong");
    for ((label, decided), [wrong, right]) in &table {
        println!("  {label:<22}{decided:<22}{right:>6}{wrong:>6}");
    }
    held.sort_unstable();
    println!(
        "  held characters of clean replies: median {:?}, most {:?}; eaten {:?}; uneven {:?}",
        held.get(held.len() / 2),
        held.last(),
        score.eaten,
        score.uneven
    );
    score
}

#[test]
fn shared_seams() {
    let Some(folder) = shared() else {
        println!("skipped: no shared/seams/cases.json (set REJOIN_SHARED)");
        return;
    };
    let cases = load(&folder.join("seams/cases.json"));
    let mut pieces = BTreeMap::new();
    for stream in load(&folder.join("seams/pieces.json")) {
        if let Some(case) = stream["case"].as_str() {
            let list = stream["pieces"]
                .as_array()
                .unwrap()
                .iter()
                .map(|p| p.as_str().unwrap().to_owned())
                .collect();
            pieces.insert(case.to_owned(), list);
        }
    }
    let half = std::env::var("SEAM_HALF").ok();
    let (a, b): (Vec<Value>, Vec<Value>) = cases.iter().cloned().partition(|case| {
        text(case, "id")
            .bytes()
            .fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)))
            % 2
            == 0
    });
    if half.as_deref() != Some("all") {
        score("half A", &a, &pieces);
    }
    if half.is_some() {
        score("half B", &b, &pieces);
    }
    let all = score("all shared cases", &cases, &pieces);
    assert!(all.uneven.is_empty());
    assert!(all.eaten.is_empty());
    assert!(all.clear_right * 100 >= all.clear * 97);
    assert!(all.right * 100 >= all.all * 93);
}

#[test]
fn own_seams() {
    let cases = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seams/cases.json"));
    let own = score("own cases", &cases, &BTreeMap::new());
    assert!(own.uneven.is_empty());
    assert_eq!(own.right, own.all);
}

/// More replies, to look at: `SEAM_CASES=file cargo test --test seams more -- --nocapture`.
#[test]
fn more_seams() {
    if let Some(file) = std::env::var_os("SEAM_CASES") {
        score("more cases", &load(Path::new(&file)), &BTreeMap::new());
    }
}
