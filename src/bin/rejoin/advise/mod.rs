//! `rejoin advise`: drop logs in, figures and a recommendation out.

mod chart;
mod html;
mod report;
mod simulation;

use crate::args::AdviseArgs;
use crate::exit::{Exit, Stop};
use rejoin::advice::{
    Advice, DropLine, LineError, Prices, Seams, Simulation, Tally, WorldRows, advise, simulate,
};
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;

/// A line of a drop log has some 600 bytes. What is longer than this is something else, and is not
/// held in memory.
const LONGEST_LINE: usize = 1 << 20;

/// All that a report is made of.
pub struct Findings {
    pub tally: Tally,
    pub advice: Advice,
    pub prices: Prices,
    pub files: usize,
    /// Lines that were no JSON, or drops without what makes one; and the first one's place.
    pub unreadable: u64,
    pub first_unreadable: Option<String>,
    /// What the simulation gave, if it was asked for.
    pub worlds: Vec<WorldRows>,
}

pub fn run(args: &AdviseArgs) -> Result<Exit, Stop> {
    let findings = read_all(args)?;
    if let Some(file) = &args.html {
        std::fs::write(file, html::page(&findings))
            .map_err(|error| format!("the page cannot be written: {}: {error}", file.display()))?;
    }
    std::io::stdout().write_all(report::text(&findings).as_bytes())?;
    Ok(Exit::Completed)
}

fn read_all(args: &AdviseArgs) -> Result<Findings, String> {
    let prices = Prices {
        input: args.input_price,
        output: args.output_price,
        seam: args.seam_price,
        second: args.second_price,
    };
    let mut reader = Reader::default();
    for file in &args.files {
        let name = file.display().to_string();
        if file == Path::new("-") {
            reader.read(&name, std::io::stdin().lock())?;
        } else {
            let open = File::open(file).map_err(|error| format!("{name}: {error}"))?;
            reader.read(&name, BufReader::with_capacity(1 << 16, open))?;
        }
    }
    let advice = advise(&reader.tally, &prices, args.threshold);
    let worlds = if args.simulate {
        let seams = Seams::of(&reader.tally);
        let simulation = Simulation { turns: args.turns, seed: args.seed, prices, seams };
        simulate(&simulation, &reader.tally.times)
    } else {
        Vec::new()
    };
    Ok(Findings {
        tally: reader.tally,
        advice,
        prices,
        files: args.files.len(),
        unreadable: reader.unreadable,
        first_unreadable: reader.first_unreadable,
        worlds,
    })
}

#[derive(Default)]
struct Reader {
    tally: Tally,
    unreadable: u64,
    first_unreadable: Option<String>,
}

impl Reader {
    fn read(&mut self, name: &str, mut input: impl BufRead) -> Result<(), String> {
        let mut line = Vec::new();
        for no in 1_u64.. {
            match next_line(&mut input, &mut line) {
                Ok(false) => break,
                Ok(true) => match DropLine::parse(&line) {
                    Ok(drop) => self.tally.add(&drop),
                    Err(LineError::Other) => {}
                    Err(LineError::Unreadable) => {
                        self.unreadable += 1;
                        self.first_unreadable.get_or_insert_with(|| format!("{name}, line {no}"));
                    }
                },
                Err(error) => return Err(format!("{name}: {error}")),
            }
        }
        Ok(())
    }
}

/// Reads a line, of a very long one only the beginning; false at the end of the input.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(piece.len(), |end| end + 1);
        let room = LONGEST_LINE.saturating_sub(line.len());
        line.extend_from_slice(&piece[..taken.min(room)]);
        input.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_across_buffers_and_long_ones_are_not_kept() {
        let long = "x".repeat(3 * LONGEST_LINE);
        let text = format!("one\n{long}\n\nlast");
        let mut input = BufReader::with_capacity(7, text.as_bytes());
        let mut line = Vec::new();
        let mut lens = Vec::new();
        while next_line(&mut input, &mut line).unwrap() {
            lens.push(line.len());
        }
        assert_eq!(lens, [4, LONGEST_LINE, 1, 4]);
    }
}
