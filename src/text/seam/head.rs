//! Why this file exists: titles and labels are short, and yet said again they tell: of a restart at
//! the head,
//! of a restatement at the end.

use super::fold::{folded, weight};
use super::form::{Form, form_of};

/// A shorter first line ("Hello!", "# Tea") is said again too easily.
const LEAST: usize = 9;

/// Whether the reply begins with the title or salutation that the committed text begins with.
pub(super) fn begins_anew(committed: &str, reply: &str) -> bool {
    let (Some(ours), Some(theirs)) = (opening_line(committed), opening_line(reply)) else {
        return false;
    };
    let line = folded(ours.text);
    let heading = ours.heading && theirs.heading;
    let salutation = ours.alone && theirs.alone && !ours.text.trim_end().ends_with([':', '：']);
    line.chars().map(weight).sum::<usize>() >= LEAST
        && (heading || salutation)
        && folded(theirs.text) == line
        // A line that comes back is a refrain.
        && !committed.trim_start().lines().skip(1).any(|other| folded(other) == line)
}

/// Where the reply's first line ends, if it is the heading or label ("Ingredients:") that the
/// committed text ends with.
/// However short it is, none stands twice in a row.
pub(super) fn repeats_label(committed: &str, reply: &str) -> Option<usize> {
    let ours = committed.trim_end().lines().next_back()?;
    let start = reply.len() - reply.trim_start().len();
    let (theirs, _) = reply[start..].split_once('\n')?;
    let names =
        |line: &str| form_of(line) == Form::Heading || line.trim_end().ends_with([':', '：']);
    let same =
        names(ours) && names(theirs) && !folded(ours).is_empty() && folded(ours) == folded(theirs);
    (same && committed.ends_with('\n')).then_some(start + theirs.trim_end().len())
}

struct Line<'a> {
    text: &'a str,
    heading: bool,
    /// A blank line follows.
    alone: bool,
}

fn opening_line(text: &str) -> Option<Line<'_>> {
    let text = text.trim_start();
    let (line, rest) = text.split_once('\n')?;
    let alone = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    Some(Line { text: line, heading: form_of(line) == Form::Heading, alone })
}
