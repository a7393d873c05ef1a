//! Charts as SVG: bars and a curve, drawn for a page that has no other help.

use std::fmt::Write as _;

const WIDE: f64 = 640.0;
const HIGH: f64 = 250.0;
/// Room at the left, and for the labels at the foot.
const LEFT: f64 = 16.0;
const FOOT: f64 = 64.0;
const TOP: f64 = 12.0;

/// A bar and its label; `strong` where the reader should look.
pub struct Bar {
    pub label: String,
    pub value: f64,
    pub shown: String,
    pub strong: bool,
}

/// Bars that stand side by side. `scale`: the value of a bar of full height, at least; several
/// charts of one scale can be compared.
#[allow(clippy::cast_precision_loss)]
pub fn columns(title: &str, bars: &[Bar], scale: f64) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(scale, f64::max).max(f64::MIN_POSITIVE);
    let step = (WIDE - LEFT) / bars.len().max(1) as f64;
    let mut svg = open(title);
    axis(&mut svg, 0.0);
    for (n, bar) in bars.iter().enumerate() {
        let tall = (HIGH - TOP - FOOT - 14.0) * bar.value / most;
        let (x, y) = (LEFT + step * n as f64, HIGH - FOOT - tall);
        let class = if bar.strong { "bar strong" } else { "bar" };
        let middle = x + step / 2.0;
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" \
             rx=\"2\"><title>{}: {}</title></rect>\
             <text class=\"value\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"tick\" transform=\"translate({middle:.1} {:.1}) rotate(-35)\">{}</text>",
            x + 3.0,
            step - 6.0,
            escaped(&bar.label),
            escaped(&bar.shown),
            y - 4.0,
            if bar.value > 0.0 { escaped(&bar.shown) } else { String::new() },
            HIGH - FOOT + 14.0,
            escaped(&bar.label)
        );
    }
    svg + "</svg>"
}

/// A point of a curve: its label at the foot and its value.
pub struct Point {
    pub label: String,
    pub value: f64,
    pub shown: String,
    pub strong: bool,
}

/// A curve over evenly spaced labels; it may go below nothing.
#[allow(clippy::cast_precision_loss)]
pub fn curve(title: &str, points: &[Point]) -> String {
    let top = points.iter().map(|p| p.value).fold(0.0, f64::max);
    let bottom = points.iter().map(|p| p.value).fold(0.0, f64::min);
    let span = (top - bottom).max(f64::MIN_POSITIVE);
    let y_of = |value: f64| TOP + 14.0 + (HIGH - TOP - FOOT - 14.0) * (top - value) / span;
    let step = (WIDE - LEFT - 24.0) / points.len().saturating_sub(1).max(1) as f64;
    let x_of = |n: usize| LEFT + 12.0 + step * n as f64;
    let mut svg = open(title);
    axis(&mut svg, HIGH - FOOT - y_of(0.0));
    let line: Vec<_> = points
        .iter()
        .enumerate()
        .map(|(n, p)| format!("{:.1},{:.1}", x_of(n), y_of(p.value)))
        .collect();
    let _ = write!(svg, "<polyline class=\"curve\" points=\"{}\"/>", line.join(" "));
    for (n, point) in points.iter().enumerate() {
        let class = if point.strong { "dot strong" } else { "dot" };
        let (x, y) = (x_of(n), y_of(point.value));
        let _ = write!(
            svg,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\"><title>{}: {}</title>\
             </circle><text class=\"tick\" transform=\"translate({x:.1} {:.1}) rotate(-35)\">{}\
             </text>",
            if point.strong { 6 } else { 3 },
            escaped(&point.label),
            escaped(&point.shown),
            HIGH - FOOT + 14.0,
            escaped(&point.label)
        );
        if point.strong || n + 1 == points.len() || n == 0 {
            let _ = write!(
                svg,
                "<text class=\"value\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y - 10.0,
                escaped(&point.shown)
            );
        }
    }
    svg + "</svg>"
}

fn open(title: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>",
        escaped(title)
    )
}

/// The line of nothing, so far above the foot.
fn axis(svg: &mut String, above: f64) {
    let y = HIGH - FOOT - above;
    let _ = write!(svg, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDE}\" y1=\"{y}\" y2=\"{y}\"/>");
}

/// Text that cannot become markup: names come from a file of somebody else.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
