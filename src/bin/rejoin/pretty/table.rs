//! Tables of a few rows: columns as wide as they need, and no wider.

use super::style::{Line, Look};
use super::words;
use super::wrap::width;
use rejoin::turn::AttemptReport;

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// A row's cells, each with its look.
pub type Cells = Vec<(Look, String)>;

/// The rows as lines, two spaces between columns; the first row is the head.
pub fn table(sides: &[Side], rows: Vec<Cells>) -> Vec<Line> {
    let widths: Vec<usize> = (0..sides.len())
        .map(|n| rows.iter().filter_map(|row| row.get(n)).map(|(_, text)| width(text)).max())
        .map(|widest| widest.unwrap_or(0))
        .collect();
    rows.into_iter()
        .map(|cells| {
            let last = cells.len().saturating_sub(1);
            let mut line = Line::new();
            for (n, (look, text)) in cells.into_iter().enumerate() {
                let room = " ".repeat(widths[n].saturating_sub(width(&text)));
                let gap = if n == 0 { "" } else { "  " };
                line = match sides[n] {
                    Side::Right => line.and(look, format!("{gap}{room}{text}")),
                    Side::Left if n == last => line.and(look, format!("{gap}{text}")),
                    Side::Left => line.and(look, format!("{gap}{text}{room}")),
                };
            }
            line
        })
        .collect()
}

/// What each attempt of a turn was and cost.
pub fn attempts(reports: &[AttemptReport]) -> Vec<Line> {
    use Side::{Left, Right};
    let head = ["#", "strategy", "outcome", "cause", "in", "out", "bill", "took"];
    let sides = [Right, Left, Left, Left, Right, Right, Left, Right];
    let mut rows: Vec<Cells> = vec![head.map(|text| (Look::Dim, text.to_owned())).into()];
    for report in reports {
        let usage = &report.usage;
        let tokens = |count: Option<u64>| count.map_or_else(|| "–".to_owned(), words::number);
        // Thoughts are billed as output.
        let out = match (usage.candidates_tokens, usage.thoughts_tokens) {
            (None, None) => None,
            (candidates, thoughts) => {
                Some(words::number(candidates.unwrap_or(0) + thoughts.unwrap_or(0)))
            }
        };
        let received = || match report.received_tokens {
            0 => "–".to_owned(),
            tokens => format!("~{}", words::number(tokens)),
        };
        let look = if report.cause.is_some() { Look::Broken } else { Look::Whole };
        let cause = report.cause.map_or("–", rejoin::turn::Cause::as_str);
        rows.push(vec![
            (Look::Plain, report.attempt.to_string()),
            (Look::Plain, report.strategy.to_string()),
            (look, report.outcome.to_string()),
            (Look::Plain, cause.to_owned()),
            (Look::Plain, tokens(usage.prompt_tokens)),
            (Look::Plain, out.unwrap_or_else(received)),
            (Look::Plain, words::billing(usage.billing).to_owned()),
            (Look::Plain, words::seconds(report.took_ms)),
        ]);
    }
    table(&sides, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let cells = |a: &str, b: &str| vec![(Look::Plain, a.to_owned()), (Look::Dim, b.to_owned())];
        let lines = table(&[Side::Left, Side::Right], vec![cells("猫", "1"), cells("a", "200")]);
        let bare: Vec<_> = lines.iter().map(Line::bare).collect();
        assert_eq!(bare, ["猫    1", "a   200"]);
    }
}
