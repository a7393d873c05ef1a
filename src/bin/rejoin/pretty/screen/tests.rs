//! What a terminal really shows: a small one is played here, and looked at.

use super::super::style::{Line, Look};
use super::super::surface::{Channel, Surface as _};
use super::*;
use std::cell::Cell;
use unicode_segmentation::UnicodeSegmentation as _;

thread_local! {
    static SIZE: Cell<(usize, usize)> = const { Cell::new((40, 10)) };
}

fn size() -> Option<(usize, usize)> {
    Some(SIZE.get())
}

/// Lines that have scrolled away and those on the screen, `~` around what is struck out.
fn terminal(bytes: &[u8], (columns, rows): (usize, usize)) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines: Vec<Vec<(String, bool)>> = vec![Vec::new()];
    let (mut row, mut column, mut struck) = (0_usize, 0_usize, false);
    let mut rest = text;
    while let Some(grapheme) = rest.graphemes(true).next() {
        if let Some(code) = rest.strip_prefix("\u{1b}[") {
            let end = code.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            let number = code[..end].parse().unwrap_or(1);
            let top = lines.len().saturating_sub(rows);
            match &code[end..=end] {
                "A" => row = row.saturating_sub(number).max(top),
                "B" => row = (row + number).min(lines.len() - 1),
                "C" => column += number,
                "K" => lines[row].truncate(column),
                "m" => struck = (struck || &code[..end] == "9") && &code[..end] != "0",
                other => panic!("unknown code {other}"),
            }
            rest = &code[end + 1..];
            continue;
        }
        rest = &rest[grapheme.len()..];
        match grapheme {
            "\r" => column = 0,
            "\n" => {
                (row, column) = (row + 1, 0);
                if row == lines.len() {
                    lines.push(Vec::new());
                }
            }
            cell => {
                let wide = width(cell);
                assert!(column + wide < columns + 1, "the terminal would wrap by itself");
                let line = &mut lines[row];
                line.resize(line.len().max(column + wide), (" ".to_owned(), false));
                line[column] = (cell.to_owned(), struck);
                if wide == 2 {
                    line[column + 1] = (String::new(), struck);
                }
                column += wide;
            }
        }
    }
    lines.iter().map(|line| shown(line)).collect()
}

fn shown(line: &[(String, bool)]) -> String {
    let mut out = String::new();
    for run in line.chunk_by(|a, b| a.1 == b.1) {
        let text: String = run.iter().map(|(cell, _)| cell.as_str()).collect();
        out.push_str(&if run[0].1 { format!("~{text}~") } else { text });
    }
    out
}

fn played(of: (usize, usize), play: impl FnOnce(&mut Screen<&mut Vec<u8>>)) -> Vec<String> {
    SIZE.set(of);
    let mut out = Vec::new();
    let mut screen = Screen::new(&mut out, size);
    play(&mut screen);
    screen.finish().unwrap();
    terminal(&out, of)
}

fn note(text: &str) -> Line {
    Line::of(Look::Broken, text)
}

#[test]
fn the_part_that_goes_is_struck_out_where_it_stands() {
    let lines = played((30, 10), |screen| {
        for piece in ["The ferry costs ", "less than lunch did. ", "Find a low wall by", " the wa"]
        {
            screen.text(Channel::Answer, piece).unwrap();
        }
        screen.line(note("-- reset")).unwrap();
        screen.take_back(Channel::Answer, 36).unwrap();
        screen.text(Channel::Answer, " Find a low wall.").unwrap();
    });
    assert_eq!(
        lines,
        [
            "The ferry costs less than",
            "lunch did. ~Find a low wall by~",
            "~the wa~",
            "-- reset",
            "Find a low wall.",
            ""
        ]
    );
}

#[test]
fn wide_characters_stay_where_they_are() {
    let lines = played((14, 10), |screen| {
        screen.text(Channel::Answer, "吾輩は猫である。名前は").unwrap();
        screen.line(note("-- reset")).unwrap();
        screen.take_back(Channel::Answer, "吾輩は猫".len()).unwrap();
    });
    assert_eq!(lines, ["吾輩は猫~であ~", "~る。名前は~", "-- reset", ""]);
}

#[test]
fn rows_that_scrolled_away_are_left_alone() {
    let lines = played((20, 4), |screen| {
        screen.text(Channel::Answer, "one\ntwo\nthree\nfour\nfive").unwrap();
        screen.line(note("-- reset")).unwrap();
        screen.take_back(Channel::Answer, 0).unwrap();
        screen.text(Channel::Answer, "new").unwrap();
    });
    // On four rows stand four, five, the note and the cursor.
    assert_eq!(lines, ["one", "two", "three", "~four~", "~five~", "-- reset", "new", ""]);
}

#[test]
fn a_window_that_changed_is_not_painted_over() {
    let lines = played((20, 10), |screen| {
        screen.text(Channel::Answer, "one two").unwrap();
        SIZE.set((30, 10));
        screen.line(note("-- reset")).unwrap();
        screen.take_back(Channel::Answer, 0).unwrap();
        SIZE.set((20, 10));
    });
    assert_eq!(lines, ["one two", "-- reset", ""]);
}

#[test]
fn thoughts_stand_apart_and_a_countdown_replaces_itself() {
    let lines = played((30, 10), |screen| {
        screen.text(Channel::Thought, "Hm.").unwrap();
        screen.text(Channel::Answer, "Yes.").unwrap();
        for left in ["waiting 10 s", "waiting 9 s"] {
            screen.status(note(left)).unwrap();
        }
        screen.take_back(Channel::Thought, 0).unwrap();
        screen.status(note("waited")).unwrap();
        screen.text(Channel::Answer, "\n\nNo.").unwrap();
    });
    assert_eq!(lines, ["~Hm.~", "", "Yes.", "waited", "No.", ""]);
}

#[test]
fn held_calls_are_struck_out_from_the_end() {
    let lines = played((30, 10), |screen| {
        for name in ["a", "b"] {
            screen.tool(note(name)).unwrap();
        }
        screen.take_back_tools(1).unwrap();
    });
    assert_eq!(lines, ["a", "~b~", ""]);
}

#[test]
fn an_answer_in_any_pieces_looks_the_same() {
    let text = "It costs less than lunch did.\n\n  1. Indented 猫は船が好きだ\n\tTabbed, and \
                averyveryveryverylongwordindeed 👩‍🚀.";
    let whole = played((24, 40), |screen| screen.text(Channel::Answer, text).unwrap());
    for size in 1..12 {
        let pieces = played((24, 40), |screen| {
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(size) {
                screen.text(Channel::Answer, &piece.iter().collect::<String>()).unwrap();
            }
        });
        assert_eq!(pieces, whole, "in pieces of {size}");
    }
}
