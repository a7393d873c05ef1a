//! The findings as one page that needs nothing beside itself.

use super::chart::{Bar, Point, columns, curve, escaped};
use super::report::{amount, headline, is_recommended, notes, range, recommendation, seconds};
use super::{Findings, simulation};
use crate::pretty::words::number;
use rejoin::advice::Recommendation;
use std::collections::BTreeMap;

pub fn page(findings: &Findings) -> String {
    let advice = match findings.files {
        0 => "What the gate's decisions are worth where lines break, by simulation.".to_owned(),
        _ => escaped(&recommendation(findings)),
    };
    let notes: Vec<_> =
        notes(findings).iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
    let notes = notes.concat();
    let mut body = if findings.tally.drops == 0 { String::new() } else { charts(findings) };
    if !findings.worlds.is_empty() {
        body.push_str(&simulation::charts(&findings.worlds));
    }
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Rejoin: what your drops say</title><style>{STYLE}</style></head><body><main>\
         <h1>What your drops say</h1><p class=\"lead\">{advice}</p>\
         {}<ul>{notes}</ul>{body}\
         <footer>rejoin {} advise, input {} and output {} per million tokens</footer>\
         </main></body></html>\n",
        match findings.files {
            0 => String::new(),
            _ => format!("<p>{}.</p>", escaped(&headline(findings))),
        },
        env!("CARGO_PKG_VERSION"),
        amount(findings.prices.input),
        amount(findings.prices.output)
    )
}

fn charts(findings: &Findings) -> String {
    let chosen = match findings.advice.recommendation {
        Recommendation::Continue { tokens } => Some(tokens),
        _ => None,
    };
    #[allow(clippy::cast_precision_loss)] // A chart has a few hundred pixels.
    let bars: Vec<_> = findings
        .tally
        .histogram()
        .map(|(low, high, count)| Bar {
            label: range(low, high),
            value: count as f64,
            shown: number(count),
            strong: chosen.is_some_and(|tokens| high.is_none_or(|high| high > tokens)),
        })
        .collect();
    let points: Vec<_> = findings
        .advice
        .thresholds
        .iter()
        .map(|t| Point {
            label: number(t.tokens),
            value: t.net,
            shown: amount(t.net),
            strong: is_recommended(findings, t),
        })
        .collect();
    let causes = by_name(&findings.tally.causes);
    [
        section(
            "Output tokens in hand at the drop",
            "Drops for which the threshold decides; bars that it would continue stand out.",
            &columns("Drops by R", &bars, 0.0),
        ),
        section(
            "What each threshold is worth",
            "Saved money and time, less the price of the seams.",
            &curve("Net by threshold", &points),
        ),
        section("What broke", "Drops by cause.", &columns("Drops by cause", &causes, 0.0)),
        table(findings),
    ]
    .concat()
}

#[allow(clippy::cast_precision_loss)]
fn by_name(counts: &BTreeMap<String, u64>) -> Vec<Bar> {
    let mut bars: Vec<_> = counts
        .iter()
        .map(|(name, count)| Bar {
            label: name.clone(),
            value: *count as f64,
            shown: number(*count),
            strong: false,
        })
        .collect();
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    // More would not be readable; the text report names them all.
    bars.truncate(14);
    bars
}

fn section(title: &str, words: &str, chart: &str) -> String {
    format!("<section><h2>{title}</h2><p>{words}</p>{chart}</section>")
}

fn table(findings: &Findings) -> String {
    let rows: Vec<_> = findings
        .advice
        .thresholds
        .iter()
        .map(|t| {
            let class = if is_recommended(findings, t) { " class=\"strong\"" } else { "" };
            format!(
                "<tr{class}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td>{:.0}</td><td>{}</td></tr>",
                number(t.tokens),
                number(t.continued),
                amount(t.saved),
                amount(t.paid_again),
                seconds(t.seconds),
                t.lost,
                amount(t.net)
            )
        })
        .collect();
    let rows = rows.concat();
    format!(
        "<section><h2>The figures</h2><div class=\"wide\"><table><thead><tr>\
         <th scope=\"col\">min_continue_tokens</th><th scope=\"col\">continued</th>\
         <th scope=\"col\">saved</th><th scope=\"col\">paid again</th>\
         <th scope=\"col\">time spared</th><th scope=\"col\">lost</th><th scope=\"col\">net</th>\
         </tr></thead><tbody>{rows}</tbody></table></div>\
         <p>Saved: R × (output price − input price), less continuations that came to nothing. \
         Paid again: what is generated a second time below the threshold. Lost: continuations that \
         begin anew or come to nothing, at the log's own rate.</p></section>"
    )
}

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2024;--soft:#60646c;--paper:#fcfcfd;--card:#fff;\
--edge:#e2e4e9;--bar:#b5c6e0;--strong:#2563c9}\
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#a3a8b0;--paper:#111214;\
--card:#191a1d;--edge:#2e3035;--bar:#3b4a63;--strong:#7fb0ff}}\
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);\
font:16px/1.55 system-ui,sans-serif}main{max-width:46rem;margin:0 auto;padding:2.5rem 1.25rem}\
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .75rem}h2{font-size:1.1rem;margin:0}\
.lead{font-size:1.15rem;border-left:4px solid var(--strong);padding-left:1rem;margin:0 0 1rem}\
p,li{color:var(--soft)}.lead{color:var(--ink)}ul{padding-left:1.2rem}\
section{background:var(--card);border:1px solid var(--edge);border-radius:12px;\
padding:1.1rem 1.25rem;margin:1.25rem 0}section p{margin:.2rem 0 .8rem;font-size:.92rem}\
svg{width:100%;height:auto;overflow:visible}.axis{stroke:var(--edge)}.bar{fill:var(--bar)}\
.bar.strong,.dot.strong{fill:var(--strong)}.dot{fill:var(--bar)}\
.curve{fill:none;stroke:var(--strong);stroke-width:2}\
text{font:11px system-ui,sans-serif;fill:var(--soft)}.value{text-anchor:middle}\
.tick{text-anchor:end}.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;\
font-size:.9rem;font-variant-numeric:tabular-nums}th,td{text-align:right;padding:.35rem .5rem;\
border-bottom:1px solid var(--edge);white-space:nowrap;font-weight:400}thead th{color:var(--soft)}\
tr.strong>*{color:var(--strong);font-weight:600}footer{color:var(--soft);font-size:.85rem}";
