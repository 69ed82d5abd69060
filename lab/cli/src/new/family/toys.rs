//! The `toys` family: variants that add numbers. It is the example of a family in docs/ADDING.md.

#![forbid(unsafe_code)]

use std::{collections::BTreeMap, sync::Arc};

use lab_family::{
    Address, Answer, Cell, Checked, Definition, Factor, Family, InputError, Levels, Needs, Places,
    Planned, Section, Truth, Unit, Work, higher, lower, section, section_schema,
};
use lab_report::{FamilyReport, Frame, Measured, Page, Row, Rows, Study, metrics_by_cell};
use schemars::JsonSchema;
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
    fn definition(&self) -> &'static Definition {
        const {
            &Definition {
                name: "toys",
                former_names: &[],
                factors: &[Factor::new("numbers")],
                adjacent_factor: None,
                metrics: &[
                    lower(
                        ("elapsed_ns", "elapsed time"),
                        Unit::Ns,
                        "The time that the variant says it took.",
                    ),
                    higher(
                        ("numbers_per_s", "numbers per second"),
                        Unit::PerSecond,
                        "Numbers over `elapsed_ns`.",
                    ),
                ],
                section: section::<ToysSection>,
                section_schema: section_schema::<ToysSection>,
            }
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
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
        _frame: &'a Frame,
        _section: &Table,
        rows: &[&'a Row],
    ) -> Vec<Measured<'a>> {
        let measured = |row: &&'a Row| {
            let elapsed = row.samples.raw("elapsed_ns").and_then(|column| column.first());
            let numbers = row.run.cell.get("numbers").and_then(|level| level.parse::<f64>().ok());
            let mut values = BTreeMap::new();
            if let (Some(&elapsed), Some(numbers)) = (elapsed, numbers) {
                values.insert("elapsed_ns", elapsed as f64);
                values.insert("numbers_per_s", 1e9 * numbers / elapsed as f64);
            }
            Measured::new(row, values)
        };
        rows.iter().map(measured).collect()
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        page.heading("Times");
        let variants = study.variants();
        let rows = Rows { variants: &variants, keep: &|_| true, factors: &["numbers"] };
        page.table("times", &metrics_by_cell(study, &rows, &["elapsed_ns", "numbers_per_s"]));
    }
}
