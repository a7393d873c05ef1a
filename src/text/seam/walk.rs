//! Why this file exists: a walk along folded text is blind to numbers and titles; here they have
//! their say.

use super::follow::Follow;
use super::known::Known;
use super::verdict::Found;
use super::{SeamContext, form, head};

/// A walk and where it begins.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// Byte of the reply.
    pub(super) at: usize,
    pub(super) follow: Follow,
}

/// What a walk has found, the rules that need the raw text included.
pub(super) fn found(
    walk: &mut Walk,
    text: &str,
    known: &Known,
    signs: &str,
    context: &SeamContext,
    hold: usize,
    ended: bool,
) -> Found {
    let rest = &text[walk.at..];
    match (context.next_number, form::leading_number(rest)) {
        (Some(_), Some((_, false))) if !ended => return Found::Open,
        // The expected number: the list goes on, however much its wording repeats.
        (Some(next), Some((number, true))) if next == number => return Found::Nothing,
        _ => {}
    }
    let found = walk.follow.found(text, known, signs, hold, ended);
    if found != Found::Nothing {
        return found;
    }
    // In code a label is a branch, a heading a comment.
    let label = head::repeats_label(&context.committed, rest).filter(|_| !known.code);
    match label {
        Some(end) => Found::Restated(walk.at + end),
        None if head::begins_anew(&context.committed, rest) => Found::Restart,
        None => Found::Nothing,
    }
}
