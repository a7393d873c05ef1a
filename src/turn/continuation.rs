//! What a continuation asks of the model.

use crate::text::Cut;
use std::fmt::Write as _;

/// The instruction forbids restating, summarising and prefacing; the rest of it depends on where
/// the committed text stops.
pub(crate) fn instruction(cut: &Cut) -> String {
    let mut text = String::from(
        "Continue directly from the text above. Do not restate, summarise, or preface it.",
    );
    if cut.open_fence.is_some() {
        text.push_str(
            " The text stops inside an open code block: go on with the code, without opening a new \
             fence.",
        );
    } else if let Some(number) = cut.next_number {
        let _ = write!(text, " The next number is {number}.");
    }
    text
}
