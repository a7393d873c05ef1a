//! What each threshold would have cost and saved, and the one to take.

use super::tally::Tally;

/// Prices and opinions that the arithmetic needs. Money is in any one currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// A million input tokens.
    pub input: f64,
    /// A million output tokens.
    pub output: f64,
    /// What a seam that a reader may notice is worth avoiding. `None`: what the default
    /// threshold of 200 tokens implies at these prices.
    pub seam: Option<f64>,
    /// What a second of a user's waiting is worth sparing.
    pub second: f64,
}

/// The default of `min_continue_tokens`, from which the price of a seam follows where none is
/// given: who continues from 200 tokens on says that a seam costs what 200 tokens save.
const IMPLIED: f64 = 200.0;
/// Speed where the log has none: what public measurements of Gemini's Flash models lie around.
const USUAL_SPEED: f64 = 150.0;
/// Below this share of what the dropped attempts cost, a saving is not worth a seam in the code.
const WORTH_OF_BILL: f64 = 0.01;
/// A threshold that no more than this share of drops reaches decides nothing.
const WORTH_OF_DROPS: f64 = 0.02;
/// Fewer drops than this are chance.
const ENOUGH_DROPS: u64 = 100;
const LOOKED_AT: [u64; 13] = [1, 25, 50, 100, 150, 200, 300, 400, 600, 800, 1200, 2000, 4000];

/// What one threshold would have meant for the drops of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// `min_continue_tokens`.
    pub tokens: u64,
    /// Drops that would have been continued.
    pub continued: u64,
    /// Output tokens that would not have been generated again.
    pub tokens_kept: u64,
    /// Money saved by R x (output price - input price), less what lost continuations cost.
    pub saved: f64,
    /// Money that generating again costs for the drops below it.
    pub paid_again: f64,
    /// Seconds of waiting spared.
    pub seconds: f64,
    /// Continuations that would have begun the answer anew or come to nothing.
    pub lost: f64,
    /// Saved money and time, less the price of the seams.
    pub net: f64,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Recommendation {
    /// Continue from so many tokens on.
    Continue {
        /// `min_continue_tokens`.
        tokens: u64,
    },
    /// Continuing is not worth it: always restart.
    NotWorthIt {
        /// Why, as a sentence.
        why: String,
    },
    /// The log has no drop for which the threshold decides.
    NothingToSay,
}

/// The figures, and what follows from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The thresholds looked at, ascending.
    pub thresholds: Vec<Threshold>,
    /// What to do.
    pub recommendation: Recommendation,
    /// The price of a seam that was used.
    pub seam_price: f64,
    /// Output tokens a second that were used.
    pub speed: f64,
    /// What the dropped attempts cost, at least.
    pub bill: f64,
    /// There are too few drops for more than a guess.
    pub few: bool,
}

/// Looks at thresholds, `also` among them.
#[must_use]
pub fn advise(tally: &Tally, prices: &Prices, also: Option<u64>) -> Advice {
    let look = Look::new(tally, prices);
    let break_even = look.break_even();
    let mut tokens: Vec<u64> = LOOKED_AT.into_iter().chain(also).chain(break_even).collect();
    tokens.sort_unstable();
    tokens.dedup();
    let thresholds: Vec<_> = tokens.into_iter().map(|tokens| look.threshold(tokens)).collect();
    Advice {
        recommendation: look.recommend(break_even),
        thresholds,
        seam_price: look.seam,
        speed: look.speed,
        bill: look.bill,
        few: tally.for_the_threshold() < ENOUGH_DROPS,
    }
}

struct Look<'a> {
    tally: &'a Tally,
    prices: &'a Prices,
    seam: f64,
    speed: f64,
    bill: f64,
    lost_share: f64,
}

const MILLION: f64 = 1_000_000.0;

#[allow(clippy::cast_precision_loss)] // Money and time here are estimates by nature.
impl<'a> Look<'a> {
    fn new(tally: &'a Tally, prices: &'a Prices) -> Self {
        let gap = (prices.output - prices.input) / MILLION;
        let bill = tally.prompt_tokens as f64 * prices.input / MILLION
            + tally.output_tokens as f64 * prices.output / MILLION;
        Self {
            tally,
            prices,
            seam: prices.seam.unwrap_or((IMPLIED * gap).max(0.0)),
            speed: tally.tokens_per_second().unwrap_or(USUAL_SPEED),
            bill,
            lost_share: tally.continuations.lost_share(),
        }
    }

    /// What one kept token is worth, in money and time, where some continuations are lost.
    fn worth_of_token(&self) -> f64 {
        self.money_of_token() + self.seconds_of_token() * self.prices.second
    }

    fn money_of_token(&self) -> f64 {
        let kept = 1.0 - self.lost_share;
        // A lost continuation has paid for R as input and saves nothing.
        (self.prices.output * kept - self.prices.input) / MILLION
    }

    fn seconds_of_token(&self) -> f64 {
        (1.0 - self.lost_share) / self.speed
    }

    /// From here on a continuation is worth its seam.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn break_even(&self) -> Option<u64> {
        let worth = self.worth_of_token();
        (worth > 0.0).then(|| ((self.seam / worth).ceil() as u64).max(1))
    }

    fn threshold(&self, tokens: u64) -> Threshold {
        let continued = self.tally.between(tokens, u64::MAX);
        let in_hand = self.tally.tokens_between(tokens, u64::MAX);
        let kept = in_hand as f64 * (1.0 - self.lost_share);
        let saved = in_hand as f64 * self.money_of_token();
        let seconds = in_hand as f64 * self.seconds_of_token();
        let below = self.tally.tokens_between(0, tokens) as f64;
        Threshold {
            tokens,
            continued,
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            tokens_kept: kept as u64,
            saved,
            paid_again: below * self.prices.output / MILLION,
            seconds,
            lost: continued as f64 * self.lost_share,
            net: saved + seconds * self.prices.second - continued as f64 * self.seam,
        }
    }

    fn recommend(&self, break_even: Option<u64>) -> Recommendation {
        let total = self.tally.for_the_threshold();
        if total == 0 {
            return Recommendation::NothingToSay;
        }
        let not = |why: String| Recommendation::NotWorthIt { why };
        let Some(tokens) = break_even else {
            let lost = self.lost_share * 100.0;
            return not(if self.prices.output <= self.prices.input {
                "output costs no more than input: a continuation saves nothing".to_owned()
            } else {
                format!("{lost:.0} % of the continuations in the log were paid for nothing")
            });
        };
        let at = self.threshold(tokens);
        let share = at.continued as f64 / total as f64;
        if share < WORTH_OF_DROPS {
            let percent = share * 100.0;
            return not(format!(
                "only {percent:.1} % of the drops have the {tokens} tokens from which a seam pays"
            ));
        }
        let gain = at.saved + at.seconds * self.prices.second;
        if self.bill > 0.0 && gain < self.bill * WORTH_OF_BILL {
            let percent = gain / self.bill * 100.0;
            return not(format!("it would save {percent:.2} % of what the dropped attempts cost"));
        }
        Recommendation::Continue { tokens }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::DropLine;
    use super::*;

    const FLASH: Prices = Prices { input: 0.30, output: 2.50, seam: None, second: 0.0 };

    fn tally(rs: impl IntoIterator<Item = u64>, seam: &str) -> Tally {
        let mut tally = Tally::default();
        for r in rs {
            let reason = if r < 200 { "below_threshold" } else { "free_text_above_threshold" };
            let line = format!(
                r#"{{"type":"drop","cause":"reset","received_tokens":{r},"committed_tokens":{r},
                "exact":true,"took_ms":{},"decision":{{"strategy":"continue",
                "reasons":["{reason}"]}},"next":{{"outcome":"completed","seam":"{seam}"}}}}"#,
                r * 10
            );
            tally.add(&DropLine::parse(line.as_bytes()).unwrap());
        }
        tally
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn clean_seams_are_worth_what_the_default_threshold_says() {
        let advice = advise(&tally([60, 150, 600, 600, 1000], "clean"), &FLASH, None);
        assert_eq!(advice.recommendation, Recommendation::Continue { tokens: 200 });
        let at = advice.thresholds.iter().find(|t| t.tokens == 200).unwrap();
        assert_eq!((at.continued, at.tokens_kept), (3, 2200));
        // R x (Co - Ci), as the article has it.
        close(at.saved, 2200.0 * (2.50 - 0.30) / 1e6);
        close(at.paid_again, 210.0 * 2.50 / 1e6);
        // 100 tokens a second, as the lines say.
        close(at.seconds, 22.0);
        assert!(advice.few);
    }

    #[test]
    fn the_best_threshold_has_the_best_net() {
        let advice = advise(&tally((1..2000).step_by(7), "clean"), &FLASH, None);
        let Recommendation::Continue { tokens } = advice.recommendation else { panic!() };
        let best = advice.thresholds.iter().max_by(|a, b| a.net.total_cmp(&b.net)).unwrap();
        assert_eq!(best.tokens, tokens);
    }

    #[test]
    fn lost_continuations_raise_the_threshold_until_nothing_is_left() {
        let mut some = tally(vec![600; 90], "clean");
        for drop in [600; 10] {
            let more = tally([drop], "restart");
            some.continuations.restarted += more.continuations.restarted;
            some.continuations.known += 1;
        }
        let advice = advise(&some, &FLASH, None);
        let Recommendation::Continue { tokens } = advice.recommendation else { panic!() };
        assert!((225..235).contains(&tokens), "{tokens}");
        let all = advise(&tally(vec![600; 100], "restart"), &FLASH, None);
        assert!(matches!(all.recommendation, Recommendation::NotWorthIt { .. }), "{all:?}");
    }

    #[test]
    fn short_drops_and_flat_prices_are_not_worth_it() {
        let short = advise(&tally(vec![100; 500], "clean"), &FLASH, None);
        let Recommendation::NotWorthIt { why } = short.recommendation else { panic!() };
        assert!(why.contains("0.0 % of the drops"), "{why}");
        let flat = Prices { input: 1.0, output: 1.0, ..FLASH };
        let advice = advise(&tally(vec![900; 500], "clean"), &flat, None);
        assert!(matches!(advice.recommendation, Recommendation::NotWorthIt { .. }));
        let nothing = advise(&Tally::default(), &FLASH, None);
        assert_eq!(nothing.recommendation, Recommendation::NothingToSay);
    }

    #[test]
    fn a_users_second_has_a_price_too() {
        let patient = advise(&tally(vec![150; 500], "clean"), &FLASH, None);
        assert!(matches!(patient.recommendation, Recommendation::NotWorthIt { .. }));
        let hurried = Prices { second: 0.01, ..FLASH };
        let advice = advise(&tally(vec![150; 500], "clean"), &hurried, None);
        assert!(matches!(advice.recommendation, Recommendation::Continue { tokens: 1..=5 }));
    }
}
