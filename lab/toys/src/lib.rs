//! The `toys` family: variants that add numbers. It is the example of a family in docs/ADDING.md.

use std::{collections::BTreeMap, sync::Arc};

use lab_family::{
    Address, Answer, Cell, Checked, Factor, Family, InputError, Levels, Metric, Needs, Places,
    Planned, Section, Truth, Unit, Work, text,
};
use lab_report::{
    FamilyReport, Frame, Row,
    frame::is_analysed,
    measure::Measured,
    page::Page,
    study::Study,
    views::{Rows, metrics_by_cell},
};
use serde::{Deserialize, Serialize};
use toml::Table;

/// The workload: add the numbers from 1 up to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// The last number.
    pub numbers: i64,
}

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Toys;

impl Family for Toys {
    fn name(&self) -> &'static str {
        "toys"
    }

    fn factors(&self) -> &'static [Factor] {
        const { &[Factor::new("numbers")] }
    }

    fn metrics(&self) -> &'static [Metric] {
        const {
            &[
                Metric::lower("elapsed_ns", Unit::Ns, "The time that the variant says it took."),
                Metric::higher("numbers_per_s", Unit::PerSecond, "Numbers over `elapsed_ns`."),
            ]
        }
    }

    fn section(&self, _file: &str, table: &Table) -> Result<Box<dyn Section>, InputError> {
        Ok(Box::new(ToysSection { defaults: text::defaults(table) }))
    }
}

#[derive(Debug)]
struct ToysSection {
    defaults: Cell,
}

impl Section for ToysSection {
    fn defaults(&self) -> Cell {
        self.defaults.clone()
    }

    fn needs(&self, _cells: &[Cell]) -> Needs {
        Needs::default()
    }

    fn plan(&self, file: &str, at: &Address<'_>) -> Result<Planned, InputError> {
        let levels = Levels { file, section: "toys", cell: at.cell };
        let work = Arc::new(ToysWork(Workload { numbers: levels.number("numbers")? }));
        Ok(Planned { work, expected_ms: 5, deadline_ms: 10_000 })
    }
}

#[derive(Debug)]
struct ToysWork(Workload);

impl Work for ToysWork {
    fn workload(&self, _at: &Places) -> serde_json::Value {
        serde_json::json!(self.0)
    }

    fn check(&self, answer: &Answer<'_>, _truth: &Truth<'_>) -> Result<Checked, String> {
        let sum = answer.column("sum", 1)?[0];
        let truth = self.0.numbers * (self.0.numbers + 1) / 2;
        if sum == truth { Ok(Checked::right()) } else { Err(format!("sum is {sum}, not {truth}")) }
    }
}

impl FamilyReport for Toys {
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        _section: &Table,
        keep: &dyn Fn(&Row) -> bool,
    ) -> Vec<Measured<'a>> {
        let rows = frame.in_plan_order().into_iter();
        let measured = |row: &'a Row| {
            let elapsed = row.samples.raw("elapsed_ns").and_then(|column| column.first());
            let numbers = row.run.cell.get("numbers").and_then(|level| level.parse::<f64>().ok());
            let mut values = BTreeMap::new();
            if let (Some(&elapsed), Some(numbers)) = (elapsed, numbers) {
                values.insert("elapsed_ns", elapsed as f64);
                values.insert("numbers_per_s", 1e9 * numbers / elapsed as f64);
            }
            Measured::new(row, values)
        };
        rows.filter(|row| is_analysed(&row.run) && keep(row)).map(measured).collect()
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        page.heading("Times");
        let variants = study.variants();
        let rows = Rows { variants: &variants, keep: &|_| true, factors: &["numbers"] };
        page.table("times", &metrics_by_cell(study, &rows, &["elapsed_ns", "numbers_per_s"]));
    }
}
