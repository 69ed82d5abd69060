//! The progress bar: the forecast's milliseconds, not runs, because runs differ a hundredfold.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use lab_driver::Progress;

/// A bar on a terminal; sentences alone where there is none.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    said_percent: u64,
    quiet: bool,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let bar = terminal.then(|| {
            let style = ProgressStyle::with_template("{wide_bar} {percent}%  ETA {eta}  {msg}");
            ProgressBar::new(0).with_style(style.expect("the template is fixed and valid"))
        });
        Self { bar, said_percent: 0, quiet }
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
            None => eprintln!("{sentence}"),
        }
    }

    fn at(&mut self, done_ms: u64, total_ms: u64, label: &str) {
        if let Some(bar) = &self.bar {
            bar.set_length(total_ms);
            bar.set_position(done_ms);
            bar.set_message(label.to_owned());
            return;
        }
        // In a log a line every ten per cent is enough.
        let percent = (done_ms * 100).checked_div(total_ms).unwrap_or(0);
        if !self.quiet && percent >= self.said_percent + 10 {
            self.said_percent = percent - percent % 10;
            eprintln!("{} %: {label}", self.said_percent);
        }
    }
}
