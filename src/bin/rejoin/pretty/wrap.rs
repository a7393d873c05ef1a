//! Where a line breaks: between words, by the width that a terminal gives each character.

use super::style::{Line, harmless};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The columns that a text takes once it is made harmless.
pub fn width(text: &str) -> usize {
    if text.contains(char::is_control) { harmless(text).width() } else { text.width() }
}

/// The rows of one paragraph, as ranges of it; at least one. Spaces at a break belong to no row;
/// those at the very end stay, since more may follow.
pub fn wrap(paragraph: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(2);
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    // The last place where the row may end, and where the next one would begin then.
    let mut gap: Option<(usize, usize)> = None;
    let mut was_wide = false;
    for (at, grapheme) in paragraph.grapheme_indices(true) {
        let wide = width(grapheme);
        if grapheme == " " {
            // A row's own indentation is no place to break.
            if paragraph[start..at].trim_end_matches(' ').len() < at - start {
                gap = gap.map(|(end, _)| (end, at + 1));
            } else if at > start {
                gap = Some((at, at + 1));
            }
            used += 1;
            was_wide = false;
            continue;
        }
        // Scripts without spaces break anywhere between their (wide) characters.
        if at > start && (wide > 1 || was_wide) && gap.is_none_or(|(_, next)| next < at) {
            gap = Some((at, at));
        }
        was_wide = wide > 1;
        if used + wide > columns && at > start {
            let (end, next) = gap.take().unwrap_or((at, at));
            rows.push(start..end);
            start = next;
            used = width(&paragraph[start..at]);
        }
        used += wide;
    }
    rows.push(start..paragraph.len());
    rows
}

/// A line in as many rows as it needs.
pub fn rows_of(line: Line, columns: usize) -> Vec<Line> {
    let bare = line.bare();
    let rows = wrap(&bare, columns);
    if rows.len() == 1 {
        return vec![line];
    }
    rows.into_iter()
        .map(|row| {
            let mut at = 0;
            let mut part = Line::new();
            for span in &line.0 {
                let (from, to) = (row.start.max(at), row.end.min(at + span.text.len()));
                if from < to {
                    part = part.and(span.look, &span.text[from - at..to - at]);
                }
                at += span.text.len();
            }
            part
        })
        .collect()
}

/// The text in at most so many columns, cut with an ellipsis if need be.
pub fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept = head(text, columns.saturating_sub(1));
    format!("{}…", kept.trim_end())
}

/// As much of the beginning as fits.
pub fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += width(grapheme);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// As much of the end as fits.
pub fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += width(grapheme);
        if used > columns {
            return &text[at + grapheme.len()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, columns: usize) -> Vec<&str> {
        wrap(text, columns).into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn rows_break_between_words() {
        assert_eq!(rows("", 10), [""]);
        assert_eq!(rows("one two three", 8), ["one two", "three"]);
        assert_eq!(rows("one two  three ", 8), ["one two", "three "]);
        assert_eq!(rows("one two", 7), ["one two"]);
        assert_eq!(rows("  indented text", 10), ["  indented", "text"]);
    }

    #[test]
    fn a_word_that_fits_no_row_is_cut() {
        assert_eq!(rows("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(rows("a bcdefghij", 4), ["a", "bcde", "fghi", "j"]);
    }

    #[test]
    fn wide_characters_count_twice_and_break_anywhere() {
        assert_eq!(rows("吾輩は猫である", 6), ["吾輩は", "猫であ", "る"]);
        assert_eq!(rows("ab 吾輩は", 5), ["ab 吾", "輩は"]);
        assert_eq!(rows("👩‍🚀👩‍🚀👩‍🚀", 4), ["👩‍🚀👩‍🚀", "👩‍🚀"]);
    }

    #[test]
    fn every_row_fits_and_only_spaces_are_left_out() {
        let text = "It costs less than lunch did — 猫は船が好きだ — and  from its deck: \
                    Donaudampfschifffahrtsgesellschaftskapitän.";
        for columns in 2..60 {
            let rows = wrap(text, columns);
            assert!(rows.iter().all(|row| width(text[row.clone()].trim_end()) <= columns));
            for pair in rows.windows(2) {
                assert!(text[pair[0].end..pair[1].start].trim().is_empty());
            }
            assert_eq!((rows[0].start, rows[rows.len() - 1].end), (0, text.len()));
        }
    }

    #[test]
    fn excerpts_are_cut_by_columns() {
        assert_eq!(fitted("one two three", 8), "one two…");
        assert_eq!(fitted("one two", 8), "one two");
        assert_eq!((head("猫猫猫", 5), tail("猫猫猫", 5)), ("猫猫", "猫猫"));
    }
}
