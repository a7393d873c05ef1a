//! Signals of the device, a line each on standard input.

use rejoin::turn::Signal;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

/// What a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Tell the turn.
    Signal(Signal),
    /// Cancel the turn.
    Cancel,
}

/// Lines of standard input, if they were asked for.
pub struct Controls(Option<Lines<BufReader<Stdin>>>);

impl Controls {
    pub fn new(wanted: bool) -> Self {
        Self(wanted.then(|| BufReader::new(tokio::io::stdin()).lines()))
    }

    /// The next control; waits for ever where there is none. Safe to cancel.
    pub async fn next(&mut self) -> Control {
        while let Some(lines) = &mut self.0 {
            match lines.next_line().await {
                Ok(Some(line)) => match parse(line.trim()) {
                    Ok(control) => return control,
                    Err(()) if line.trim().is_empty() => {}
                    Err(()) => eprintln!("rejoin: --control does not know {line:?}"),
                },
                Ok(None) | Err(_) => self.0 = None,
            }
        }
        std::future::pending().await
    }
}

fn parse(line: &str) -> Result<Control, ()> {
    Ok(match line {
        "network_lost" => Control::Signal(Signal::NetworkLost),
        "network_available" => Control::Signal(Signal::NetworkAvailable),
        "network_changed" => Control::Signal(Signal::NetworkChanged),
        "network_changed metered" => Control::Signal(Signal::NetworkChangedTo { metered: true }),
        "network_changed unmetered" => Control::Signal(Signal::NetworkChangedTo { metered: false }),
        "will_suspend" => Control::Signal(Signal::WillSuspend),
        "resumed" => Control::Signal(Signal::Resumed),
        "cancel" => Control::Cancel,
        _ => return Err(()),
    })
}
