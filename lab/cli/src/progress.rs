//! Progress by the forecast's milliseconds, not by runs, because runs differ a hundredfold.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use lab_console::seconds_text;
use lab_driver::{Position, Progress};

use crate::streams::tell;

/// In a log one line in this time is enough.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// A bar on a terminal; where there is none a line a minute.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    pace: Pace,
    quiet: bool,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let bar = terminal.then(|| {
            let style = ProgressStyle::with_template("{wide_bar} {percent} %  {msg}");
            ProgressBar::new(0).with_style(style.expect("the template is fixed and valid"))
        });
        Self { bar, pace: Pace::default(), quiet }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn note(&mut self, sentence: &str) {
        match &self.bar {
            Some(bar) => bar.println(sentence),
            None => tell(sentence),
        }
    }

    fn at(&mut self, position: &Position<'_>) {
        if let Some(bar) = &self.bar {
            bar.set_length(position.total_ms);
            bar.set_position(position.done_ms);
            bar.set_message(said(position));
            return;
        }
        if !self.quiet && position.total_ms > 0 && self.pace.is_time(Instant::now()) {
            let percent = position.done_ms.saturating_mul(100) / position.total_ms;
            tell(format_args!("{percent} %, {}", said(position)));
        }
    }
}

/// When a line was printed last.
#[derive(Debug, Default)]
struct Pace {
    last: Option<Instant>,
}

impl Pace {
    /// Whether a line is due; then this is its time.
    fn is_time(&mut self, now: Instant) -> bool {
        let is_time = self.last.is_none_or(|last| now.duration_since(last) >= BETWEEN_LINES);
        if is_time {
            self.last = Some(now);
        }
        is_time
    }
}

/// "3 of 40 cells, ETA 8 min, worst noise steal 2.1 %: what comes".
fn said(position: &Position<'_>) -> String {
    let Position { done_ms, total_ms, cells_done, cells, worst_noise, label } = position;
    if *cells == 0 {
        return (*label).to_owned();
    }
    let left = seconds_text(total_ms.saturating_sub(*done_ms) as f64 / 1e3);
    let noise = match worst_noise {
        None => "noise not known".to_owned(),
        Some(worst) if worst.share == 0.0 => "no noise so far".to_owned(),
        Some(worst) => format!("worst noise {} {:.1} %", worst.cause, 100.0 * worst.share),
    };
    format!("{cells_done} of {cells} cells, ETA {left}, {noise}: {label}")
}

#[cfg(test)]
mod tests {
    use lab_driver::Disturbance;

    use super::*;

    #[test]
    fn a_line_says_how_far_how_long_and_how_disturbed() {
        let mut position = Position {
            done_ms: 60_000,
            total_ms: 1_260_000,
            cells_done: 3,
            cells: 40,
            worst_noise: None,
            label: "`a`, block 1",
        };
        for (share, noise) in [
            (None, "noise not known"),
            (Some(0.0), "no noise so far"),
            (Some(0.0004), "worst noise steal 0.0 %"),
            (Some(0.021), "worst noise steal 2.1 %"),
        ] {
            position.worst_noise = share.map(|share| Disturbance { cause: "steal", share });
            let line = format!("3 of 40 cells, ETA 20 min, {noise}: `a`, block 1");
            assert_eq!(said(&position), line);
        }
        assert_eq!(said(&Position { cells: 0, ..position }), "`a`, block 1");
    }

    #[test]
    fn a_log_has_a_line_a_minute() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let printed = [0, 59, 60, 61, 119, 120, 600].map(|second| pace.is_time(at(second)));
        assert_eq!(printed, [true, false, true, false, false, true, true]);
    }
}
