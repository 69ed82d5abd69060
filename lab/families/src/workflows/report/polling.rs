//! What a polling client adds to a makespan.

use lab_family::Cell;
use lab_report::{Page, Rows, Study, metrics_by_cell, over_level};

use super::{levels, scale};
use crate::workflows::metrics::{MAKESPAN, NOTIFICATION};

const POLL: &str = "poll_ms";

pub(crate) fn write(study: &Study, page: &mut Page) {
    if levels(study, POLL).len() < 2 {
        return;
    }
    page.heading("Push notification and polling");
    page.paragraph(
        "A polling client learns of a task's end at its next poll. `poll_ms` 0 is push \
         notification.",
    );
    let variants = study.variants();
    let factors = ["shape", POLL];
    let keep = |cell: &Cell| study.is_default_but(cell, &factors);
    let rows = Rows { variants: &variants, keep: &keep, factors: &factors };
    page.figure_by(
        ("polling", "workflow-polling.gp"),
        "Median makespan over the polling interval; 0.1 ms stands for push notification, and the \
         grey line is the interval itself",
        &scale(study),
    );
    let metrics = [MAKESPAN, "completed_ns", NOTIFICATION];
    page.beside(
        "polling",
        "Medians over restarts by polling interval",
        &metrics_by_cell(study, &rows, &metrics),
    );
    let keep = |cell: &Cell| keep(cell) && cell.get(POLL).is_some_and(|level| level != "0");
    let rows = Rows { keep: &keep, ..rows };
    let over = over_level(study, &rows, (POLL, "0"), &[MAKESPAN]);
    page.beside("polling-over-push", "Polling over push notification, within blocks", &over);
}
