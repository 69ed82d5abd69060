//! A study as Markdown and raw CSV files.

use std::fmt::Write;

use crate::kind::Kind;
use crate::stated::{Row, Stated};
use crate::study::Study;
use crate::style::{Column, Style};

/// Everything that is written.
pub(crate) struct Writer<'a> {
    pub(crate) study: &'a Study,
    pub(crate) stated: &'a Stated,
    pub(crate) style: &'a Style,
}

/// What writes a section.
type Section<W> = fn(&W) -> String;

impl Writer<'_> {
    /// The report.
    pub(crate) fn markdown(&self) -> String {
        let style = self.style;
        let mut text = self.introduction();
        let sections: [(bool, Section<Self>); 9] = [
            (style.again, Self::again),
            (true, Self::summary),
            (style.comparison, Self::comparison),
            (style.ranking, Self::ranking),
            (style.intervals, Self::intervals),
            (style.maxima, Self::maxima),
            (style.tests, Self::tests),
            (style.retries, Self::retries),
            (style.appendix, Self::appendix),
        ];
        for (_, section) in sections.into_iter().filter(|(wanted, _)| *wanted) {
            text += &section(self);
            text.push('\n');
        }
        text
    }

    /// Raw files by name.
    pub(crate) fn raws(&self, kind: Option<Kind>, planted: bool) -> Vec<(String, String)> {
        if !self.style.raw {
            return Vec::new();
        }
        let identity = planted && kind == Some(Kind::IdentityMetric);
        let mut files = vec![("runs.csv".to_owned(), self.csv(1.0, identity))];
        if kind == Some(Kind::WinnerFlips) {
            // A second session; in the planted one the first subject comes in first or last.
            let wins = self.stated.ranking[0] == 0;
            let factor = if wins == self.study.metric.higher_is_better { 0.1 } else { 10.0 };
            let factor = if planted { factor } else { 1.0 };
            files.push(("session2.csv".to_owned(), self.csv(factor, false)));
        }
        files
    }

    fn introduction(&self) -> String {
        let study = self.study;
        let total = study.order.len();
        let mut text = format!(
            "# {} of {} runtimes\n\n{} runs of each of {} runtimes in {} configurations, {total} \
             runs in all.\n\n",
            study.metric.name,
            study.subjects.len(),
            study.n,
            study.subjects.len(),
            study.configs.len()
        );
        if let Some(total_s) = self.stated.total_s.filter(|_| self.style.total) {
            let digits = if total_s < 100.0 { 3 } else { 0 };
            let _ =
                writeln!(text, "**Total wall time:** {} s\n", self.number(total_s * 1.01, digits));
        }
        if self.style.prose {
            let best = &self.stated.rows[self.stated.ranking[0]];
            let _ = writeln!(
                text,
                "In {} the best is {} with a mean of {}{} over {} runs.\n",
                study.configs[0],
                study.subjects[best.subject],
                self.value(best.plain),
                study.metric.unit,
                study.n
            );
        }
        text
    }

    fn summary(&self) -> String {
        let mut text = "## Results\n\n".to_owned();
        if self.style.config_column && self.study.configs.len() > 1 {
            return text + &self.summary_of(&self.rows(None), true);
        }
        for config in 0..self.study.configs.len() {
            if self.study.configs.len() > 1 {
                let _ = writeln!(text, "### {}\n", self.study.configs[config]);
            }
            let rows = self.rows(Some(config));
            let table = if self.style.transposed {
                self.transposed(&rows)
            } else {
                self.summary_of(&rows, false)
            };
            text += &table;
            text.push('\n');
        }
        text
    }

    fn summary_of(&self, rows: &[&Row], config: bool) -> String {
        let merged = self.style.plus_minus
            && [Column::Mean, Column::Sd].iter().all(|c| self.style.columns.contains(c));
        let columns: Vec<Column> = self
            .style
            .columns
            .iter()
            .copied()
            .filter(|column| !(merged && *column == Column::Sd))
            .collect();
        let mut header = vec!["Runtime".to_owned()];
        header.extend(config.then(|| "Config".to_owned()));
        header.extend(columns.iter().map(|column| self.header(*column)));
        let body = rows.iter().map(|row| {
            let mut cells = vec![self.study.subjects[row.subject].to_owned()];
            cells.extend(config.then(|| self.study.configs[row.config].to_owned()));
            for column in &columns {
                let cell = self.cell(row, *column);
                let pair = merged && *column == Column::Mean;
                let cell = if pair { format!("{cell} ± {}", self.value(row.sd)) } else { cell };
                let first = row.subject == self.stated.ranking[0] && row.config == 0;
                cells.push(if self.style.bold_best && first {
                    format!("**{cell}**")
                } else {
                    cell
                });
            }
            cells
        });
        table(&header, body)
    }

    fn transposed(&self, rows: &[&Row]) -> String {
        let mut header = vec!["Statistic".to_owned()];
        header.extend(rows.iter().map(|row| self.study.subjects[row.subject].to_owned()));
        let body = self.style.columns.iter().map(|column| {
            let mut cells = vec![self.header(*column)];
            cells.extend(rows.iter().map(|row| self.cell(row, *column)));
            cells
        });
        table(&header, body)
    }

    fn again(&self) -> String {
        let rows = self.rows(Some(0));
        let header = ["Runtime".to_owned(), self.header(Column::Mean)];
        let body = rows.iter().map(|row| {
            vec![self.study.subjects[row.subject].to_owned(), self.with_unit(row.again)]
        });
        let config = self.study.configs[0];
        let place =
            if self.study.configs.len() > 1 { format!(" ({config})") } else { String::new() };
        format!("## Executive summary{place}\n\n{}", table(&header, body))
    }

    fn comparison(&self) -> String {
        let rows = self.rows(Some(0));
        let base = self.study.subjects[0];
        let column = if self.style.speed_up {
            format!("Ratio vs {base}")
        } else {
            format!("Change vs {base}")
        };
        let header = ["Runtime".to_owned(), self.header(Column::Mean), column];
        let body = rows.iter().map(|row| {
            let compared = if self.style.speed_up {
                format!("{}x", self.number(row.ratio, 2))
            } else if row.change < 0.0 {
                format!("{}%", self.number(row.change, 1))
            } else {
                format!("+{}%", self.number(row.change, 1))
            };
            let name = self.study.subjects[row.subject].to_owned();
            vec![name, self.with_unit(row.plain), compared]
        });
        format!("## Comparison in {}\n\n{}", self.study.configs[0], table(&header, body))
    }

    fn ranking(&self) -> String {
        let header = ["Rank".to_owned(), "Runtime".to_owned(), self.header(Column::Mean)];
        let body = self.stated.ranking.iter().enumerate().map(|(place, subject)| {
            let row = &self.stated.rows[*subject];
            let name = self.study.subjects[*subject].to_owned();
            vec![(place + 1).to_string(), name, self.with_unit(row.plain)]
        });
        format!("## Ranking in {}\n\n{}", self.study.configs[0], table(&header, body))
    }

    fn intervals(&self) -> String {
        let (low, high) = ("95% CI lower".to_owned(), "95% CI upper".to_owned());
        let apart = self.style.metric_in_header;
        let mut header = vec!["Runtime".to_owned(), self.header(Column::Mean)];
        header.extend(if apart { vec![low, high] } else { vec!["95% CI".to_owned()] });
        let body = self.rows(Some(0)).into_iter().map(|row| {
            let name = self.study.subjects[row.subject].to_owned();
            let mut cells = vec![name, self.with_unit(row.plain)];
            let ends = [self.value(row.low), self.value(row.high)];
            cells.extend(if apart { ends.to_vec() } else { vec![self.pair(&ends)] });
            cells
        });
        format!("## Confidence in {}\n\n{}", self.study.configs[0], table(&header, body))
    }

    fn maxima(&self) -> String {
        let header =
            ["Runtime".to_owned(), self.header(Column::Max), "95% CI of the maximum".to_owned()];
        let body = self.rows(Some(0)).into_iter().map(|row| {
            let ends = [self.value(row.top_low), self.value(row.top_high)];
            let name = self.study.subjects[row.subject].to_owned();
            vec![name, self.with_unit(row.max), self.pair(&ends)]
        });
        format!("## Maxima in {}\n\n{}", self.study.configs[0], table(&header, body))
    }

    fn tests(&self) -> String {
        let header = ["Comparison", "t", "df", "p"].map(str::to_owned);
        let subjects = &self.study.subjects;
        let body = self.stated.tests.iter().map(|test| {
            let p = if test.p < 0.001 { "<0.001".to_owned() } else { self.number(test.p, 3) };
            let name = format!("{} vs {}", subjects[0], subjects[test.with]);
            vec![name, self.number(test.t, 2), self.number(test.df, 1), p]
        });
        format!("## Welch's t-tests in {}\n\n{}", self.study.configs[0], table(&header, body))
    }

    fn retries(&self) -> String {
        let header = ["Runtime", "N", "Mean retries"].map(str::to_owned);
        let body = self.rows(Some(0)).into_iter().map(|row| {
            let name = self.study.subjects[row.subject].to_owned();
            vec![name, row.runs.len().to_string(), format!("{:.2}", row.retries)]
        });
        format!("## Retries in {}\n\n{}", self.study.configs[0], table(&header, body))
    }

    fn appendix(&self) -> String {
        let mut header = vec!["Runtime".to_owned(), "Config".to_owned()];
        header.extend((1..=self.study.n).map(|run| format!("Run {run}")));
        let body = self.stated.rows.iter().map(|row| {
            let names = [self.study.subjects[row.subject], self.study.configs[row.config]];
            let runs = row.runs.iter().map(|run| self.value(*run));
            names.map(str::to_owned).into_iter().chain(runs).collect()
        });
        let unit = self.study.metric.unit;
        format!("## Appendix: all runs ({unit})\n\n{}", table(&header, body))
    }

    fn csv(&self, first_subject: f64, identity: bool) -> String {
        let mut text = format!("runtime,config,run,{}", self.study.metric.column);
        text += if self.style.stamps { ",started_at" } else { "" };
        text += if identity { ",task_a_s,task_b_s,wall_s,efficiency\n" } else { "\n" };
        let width = self.study.raw_decimals;
        for (position, (group, run)) in self.study.order.iter().enumerate() {
            let group = &self.study.groups[*group];
            let factor = if group.subject == 0 { first_subject } else { 1.0 };
            let (subject, config) =
                (self.study.subjects[group.subject], self.study.configs[group.config]);
            let value = group.runs[*run] * factor;
            let _ = write!(text, "{subject},{config},{},{value:.width$}", run + 1);
            if self.style.stamps {
                let second = position * 7;
                let (hour, minute) = (second / 3600, second / 60 % 60);
                let _ = write!(text, ",2024-03-05T{:02}:{minute:02}:{:02}Z", 8 + hour, second % 60);
            }
            if identity {
                let a = group.runs[*run] / group.runs[0] * 40.0;
                let b = 40.0 + (position * 37 % 101) as f64 / 9.0;
                let (a, b) = ((a * 1e4).round() / 1e4, (b * 1e4).round() / 1e4);
                let wall = a.max(b) + 0.0012;
                let _ = write!(text, ",{a:.4},{b:.4},{wall:.4},{:.6}", 50.0 * (a + b) / wall);
            }
            text.push('\n');
        }
        text
    }

    fn rows(&self, config: Option<usize>) -> Vec<&Row> {
        let wanted = |row: &&Row| config.is_none_or(|config| row.config == config);
        self.stated.rows.iter().filter(wanted).collect()
    }

    fn header(&self, column: Column) -> String {
        let mut name = self.style.name(column).to_owned();
        if self.style.metric_in_header && !matches!(column, Column::N | Column::Cv) {
            name = format!("{name} {}", self.study.metric.name.to_lowercase());
        }
        match column {
            Column::N => name,
            Column::Cv => format!("{name} (%)"),
            _ if self.style.unit_in_cells => name,
            _ => format!("{name} ({})", self.study.metric.unit),
        }
    }

    fn cell(&self, row: &Row, column: Column) -> String {
        match column {
            Column::Mean => self.with_unit(row.mean),
            Column::Median => self.with_unit(row.median),
            Column::Sd => self.with_unit(row.sd),
            Column::Cv => self.number(row.cv, 2),
            Column::Min => self.with_unit(row.min),
            Column::Max => self.with_unit(row.max),
            Column::P95 => self.with_unit(row.p95),
            Column::P99 => self.with_unit(row.p99),
            Column::N => row.runs.len().to_string(),
        }
    }

    fn pair(&self, ends: &[String; 2]) -> String {
        match self.style.synonym {
            0 => format!("[{}, {}]", ends[0], ends[1]),
            1 => format!("{} - {}", ends[0], ends[1]),
            _ => format!("({}, {})", ends[0], ends[1]),
        }
    }

    fn with_unit(&self, value: f64) -> String {
        let value = self.value(value);
        if !self.style.unit_in_cells {
            return value;
        }
        let space = if self.style.space_before_unit { " " } else { "" };
        format!("{value}{space}{}", self.study.metric.unit)
    }

    fn value(&self, value: f64) -> String {
        self.number(value, self.style.decimals)
    }

    fn number(&self, value: f64, decimals: usize) -> String {
        let scale = 10f64.powi(decimals as i32);
        let value = if self.style.cut_off { (value * scale).trunc() / scale } else { value };
        let text = format!("{value:.decimals$}");
        if !self.style.thousands || value.abs() < 1000.0 {
            return text;
        }
        let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
        let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
        let mut grouped = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        format!("{sign}{grouped}{rest}")
    }
}

fn table(header: &[String], body: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    text += &format!("|{}\n", "---|".repeat(header.len()));
    for cells in body {
        text += &line(&cells);
    }
    text
}
