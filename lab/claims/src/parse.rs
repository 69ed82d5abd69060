//! Claim file and tables in, statements out. Errors name the file and the key.

use std::collections::BTreeMap;

use super::{
    Against, CellValue, Claim, Claims, Comparator, Key, Part, Statement, StatementValue, TableInfo,
    format::Scope,
};
use crate::declared;
use lab_audit::Place;

/// Why a claim file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    /// The text is not what the file should hold.
    #[error("{file}: {message}")]
    Text {
        /// The file, as the caller named it.
        file: String,
        /// What is wrong, with the key and the line where the parser knows it.
        message: String,
    },
    /// The text is well formed and contradicts itself.
    #[error("{file}: key `{key}`: {message}")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// A claim's test cannot be read from our tables.
    #[error(transparent)]
    Join(#[from] crate::join::JoinError),
}

impl ClaimsError {
    pub(crate) fn text(file: &str, message: &dyn ToString) -> Self {
        Self::Text { file: file.to_owned(), message: message.to_string().trim_end().to_owned() }
    }

    pub(crate) fn value(file: &str, key: &str, message: impl Into<String>) -> Self {
        Self::Value { file: file.to_owned(), key: key.to_owned(), message: message.into() }
    }
}

impl Claims {
    /// Reads a claim file and its tables. `files` holds the text of every CSV, by the name that the
    /// claim file gives it.
    ///
    /// # Errors
    /// Names the file and the key; unknown keys are refused.
    pub fn parse(
        file: &str,
        text: &str,
        files: &BTreeMap<String, String>,
    ) -> Result<Self, ClaimsError> {
        let mut claims = Self::header(file, text)?;
        let names = Names::of(&claims);
        let mut tables = std::mem::take(&mut claims.table);
        for table in &mut tables {
            let key = format!("table.{}.file", table.id);
            let csv = files.get(&table.file).ok_or_else(|| {
                ClaimsError::value(file, &key, format!("there is no file {}", table.file))
            })?;
            table.cells = cells(&claims, table, &names, csv)?;
        }
        claims.table = tables;
        claims.resolve(&names);
        claims.check(file)?;
        declared::findings(file, &claims.check, &claims.statements(), &[])?;
        Ok(claims)
    }

    /// Reads a claim file without its tables, to learn which files it names.
    ///
    /// # Errors
    /// As for [`Claims::parse`].
    pub fn header(file: &str, text: &str) -> Result<Self, ClaimsError> {
        let claims: Self = toml::from_str(text).map_err(|error| ClaimsError::text(file, &error))?;
        if claims.schema != 1 {
            let message = format!("this reads version 1, not {}", claims.schema);
            return Err(ClaimsError::value(file, "schema", message));
        }
        Ok(claims)
    }

    /// The files that the claim file names, relative to it: tables.
    pub fn files(&self) -> Vec<String> {
        self.table.iter().map(|table| table.file.clone()).collect()
    }

    /// Everything stated, tables first.
    pub fn statements(&self) -> Vec<Statement> {
        let tabled = self.table.iter().flat_map(|table| table.cells.iter().cloned());
        tabled.chain(self.claim.iter().map(|claim| self.statement(claim))).collect()
    }

    /// A claim as a statement.
    pub fn statement(&self, claim: &Claim) -> Statement {
        let place = Place {
            document: self.document.file.clone(),
            line: Some(claim.line),
            section: claim.section.clone(),
            row: None,
            column: None,
        };
        let unit = self.unit_of(claim.metric.as_deref(), claim.comparator);
        let read = |text: &Option<String>| match CellValue::read(text.as_deref()?).in_unit(unit) {
            CellValue::Number(_, printed) => Some(printed),
            _ => None,
        };
        let value = match (read(&claim.value), &claim.level) {
            (Some(printed), _) => StatementValue::Number(printed),
            (None, Some(level)) => StatementValue::Name(level.clone()),
            (None, None) => StatementValue::None,
        };
        Statement {
            id: claim.id.clone(),
            place,
            key: claim.key(),
            comparator: claim.comparator,
            value,
            high: read(&claim.high),
            against: claim.against.clone(),
            among: claim.among.clone(),
            tabled: false,
        }
    }

    /// The unit that values of a metric are converted to: a ratio or a percentage of it has none.
    fn unit_of(&self, metric: Option<&str>, comparator: Comparator) -> &str {
        if matches!(comparator, Comparator::RatioTo | Comparator::PercentTo) {
            return "";
        }
        let known = self.metric.iter().find(|known| metric == Some(&known.id));
        known.map_or("", |metric| &metric.unit)
    }

    fn resolve(&mut self, names: &Names) {
        for claim in &mut self.claim {
            claim.subject = claim.subject.as_deref().map(|name| names.subject(name));
            names.scope(&mut claim.scope);
            claim.level = claim.level.as_deref().map(|name| names.any_level(name));
            for against in [&mut claim.against, &mut claim.fact].into_iter().flatten() {
                names.against(against);
            }
        }
    }

    fn check(&self, file: &str) -> Result<(), ClaimsError> {
        let known = |metric: &str| self.metric.iter().any(|known| known.id == metric);
        for statement in self.statements() {
            let key = format!("{}.metric", statement.id);
            let metric = &statement.key.metric;
            if !metric.is_empty() && !known(metric) {
                let message = format!("`{metric}` has no [[metric]] of that id");
                return Err(ClaimsError::value(file, &key, message));
            }
        }
        for claim in &self.claim {
            check_claim(file, claim)?;
        }
        self.unique_ids(file)
    }

    fn unique_ids(&self, file: &str) -> Result<(), ClaimsError> {
        let mut seen = std::collections::BTreeSet::new();
        let claims = self.claim.iter().map(|claim| &claim.id);
        for id in claims.chain(self.table.iter().map(|table| &table.id)) {
            if !seen.insert(id) {
                let message = "this id is used twice; give each claim and table its own";
                return Err(ClaimsError::value(file, id, message));
            }
        }
        Ok(())
    }
}

fn check_claim(file: &str, claim: &Claim) -> Result<(), ClaimsError> {
    use Comparator::{
        BestOf, DifferenceTo, HighestOf, LowestOf, PercentTo, RatioTo, Says, WorstOf,
    };
    let wrong = |key: &str, message: &str| {
        Err(ClaimsError::value(file, &format!("claim.{}.{key}", claim.id), message))
    };
    for (key, text) in [("value", &claim.value), ("high", &claim.high)] {
        let number = |text: &String| matches!(CellValue::read(text), CellValue::Number(..));
        if text.as_ref().is_some_and(|text| !number(text)) {
            return wrong(key, "this is not a number as printed; `level` is for names");
        }
    }
    let ranks = [BestOf, WorstOf, HighestOf, LowestOf, Says].contains(&claim.comparator);
    if !ranks && claim.value.is_none() && claim.level.is_none() {
        return wrong("value", "missing; a claim without a number needs the comparator `says`");
    }
    if claim.comparator != Says && claim.metric.is_none() {
        return wrong("metric", "missing; only the comparator `says` goes without a metric");
    }
    let relative = [DifferenceTo, RatioTo, PercentTo].contains(&claim.comparator);
    if relative && claim.against.is_none() {
        return wrong("against", "missing; it names the other side");
    }
    if claim.untestable.is_some() && !claim.test.is_empty() {
        return wrong("untestable", "a claim is either testable or not; drop this or `test`");
    }
    Ok(())
}

impl Claim {
    /// The quantity it speaks of.
    pub fn key(&self) -> Key {
        let statistic = self.statistic.clone().unwrap_or_else(|| "value".to_owned());
        Key {
            metric: self.metric.clone().unwrap_or_default(),
            statistic,
            subject: self.subject.clone().unwrap_or_default(),
            scope: self.scope.clone(),
        }
    }
}

/// Ids by every spelling.
pub(crate) struct Names {
    subjects: BTreeMap<String, String>,
    levels: BTreeMap<(String, String), String>,
}

impl Names {
    pub(crate) fn of(claims: &Claims) -> Self {
        let mut subjects = BTreeMap::new();
        for subject in &claims.subject {
            for name in subject.names.iter().chain([&subject.id]) {
                subjects.insert(name.to_lowercase(), subject.id.clone());
            }
        }
        let mut levels = BTreeMap::new();
        for factor in &claims.factor {
            for level in &factor.level {
                for name in level.names.iter().chain([&level.id]) {
                    levels.insert((factor.id.clone(), name.to_lowercase()), level.id.clone());
                }
            }
        }
        Self { subjects, levels }
    }

    pub(crate) fn subject(&self, name: &str) -> String {
        let name = name.trim();
        self.subjects.get(&name.to_lowercase()).cloned().unwrap_or_else(|| name.to_owned())
    }

    pub(crate) fn level(&self, factor: &str, name: &str) -> String {
        let key = (factor.to_owned(), name.trim().to_lowercase());
        self.levels.get(&key).cloned().unwrap_or_else(|| name.trim().to_owned())
    }

    /// A level by any of its names, of whichever factor.
    pub(crate) fn any_level(&self, name: &str) -> String {
        let lower = name.trim().to_lowercase();
        let known = self.levels.iter().find(|((_, spelling), _)| *spelling == lower);
        known.map_or_else(|| name.trim().to_owned(), |(_, id)| id.clone())
    }

    /// Whether a factor declares levels and this is none of them.
    pub(crate) fn is_no_level(&self, factor: &str, name: &str) -> bool {
        let of = |known: &&(String, String)| known.0 == factor;
        let lower = name.trim().to_lowercase();
        let mut levels = self.levels.keys().filter(of).peekable();
        levels.peek().is_some() && !levels.any(|(_, spelling)| *spelling == lower)
    }

    pub(crate) fn scope(&self, scope: &mut Scope) {
        for (factor, level) in scope {
            *level = self.level(factor, level);
        }
    }

    pub(crate) fn against(&self, against: &mut Against) {
        against.subject = against.subject.as_deref().map(|name| self.subject(name));
        against.scope.iter_mut().for_each(|scope| self.scope(scope));
        self.scope(&mut against.levels);
    }
}

/// A table's cells as statements.
fn cells(
    claims: &Claims,
    table: &TableInfo,
    names: &Names,
    csv: &str,
) -> Result<Vec<Statement>, ClaimsError> {
    let file = &table.file;
    let mut reader = csv::ReaderBuilder::new().from_reader(csv.as_bytes());
    let columns = reader.headers().map_err(|error| ClaimsError::text(file, &error))?.clone();
    let at = |name: &str| columns.iter().position(|column| column == name);
    let named = table.column.keys().chain(&table.subject).chain(table.factor.keys());
    for name in named.chain(&table.row_name) {
        if at(name).is_none() {
            let key = format!("table.{}", table.id);
            let message = format!("{file} has no column `{name}`");
            return Err(ClaimsError::value(&claims.document.id, &key, message));
        }
    }
    let mut found = Vec::new();
    let mut rows = std::collections::BTreeSet::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| ClaimsError::text(file, &error))?;
        let get = |name: &str| at(name).and_then(|index| record.get(index)).unwrap_or_default();
        let row_name = table.row_name.as_deref().map_or(&record[0], get).trim().to_owned();
        let mut part = table.all.clone();
        part.subject = table.subject.as_deref().map(get).map(str::to_owned).or(part.subject);
        for (column, factor) in &table.factor {
            part.scope.insert(factor.clone(), get(column).to_owned());
        }
        let row = table.row.get(&row_name).cloned().unwrap_or_default();
        rows.insert(row_name.clone());
        let place = Place {
            document: table.from.clone().unwrap_or_else(|| claims.document.file.clone()),
            // A header, its rule, then the rows: so Markdown has it.
            line: Some(table.line + 2 + index),
            section: table.section.clone(),
            row: Some(row_name),
            column: None,
        };
        for (column, own) in &table.column {
            let part = part.clone().with(&row).with(own).resolved(names);
            let place = Place { column: Some(column.clone()), ..place.clone() };
            let unit = claims.unit_of(part.metric.as_deref(), part.comparator.unwrap_or_default());
            let value = CellValue::read(get(column)).in_unit(unit);
            found.extend(cell(&table.id, place, part, names, (get(column), value)));
        }
    }
    if let Some(row) = table.row.keys().find(|row| !rows.contains(*row)) {
        let key = format!("table.{}.row", table.id);
        let message = format!("{file} has no row `{row}`");
        return Err(ClaimsError::value(&claims.document.id, &key, message));
    }
    Ok(found)
}

/// A cell's statements: none, one, or the two ends of a range.
fn cell(
    id: &str,
    place: Place,
    part: Part,
    names: &Names,
    (text, value): (&str, CellValue),
) -> Vec<Statement> {
    if part.skip {
        return Vec::new();
    }
    let key = Key {
        metric: part.metric.unwrap_or_default(),
        statistic: part.statistic.unwrap_or_else(|| "value".to_owned()),
        subject: part.subject.unwrap_or_default(),
        scope: part.scope,
    };
    let one = |statistic: &str, comparator: Comparator, value: StatementValue| Statement {
        id: id.to_owned(),
        place: place.clone(),
        key: Key { statistic: statistic.to_owned(), ..key.clone() },
        comparator,
        value,
        high: None,
        against: part.against.clone(),
        among: Vec::new(),
        tabled: true,
    };
    let stated = part.comparator.unwrap_or_default();
    match (value, part.level_of) {
        (CellValue::Empty, _) | (CellValue::Text(_), None) => Vec::new(),
        (_, Some(factor)) if names.is_no_level(&factor, text) => Vec::new(),
        (_, Some(factor)) => {
            let name = StatementValue::Name(names.level(&factor, text));
            vec![one(&key.statistic, Comparator::Equal, name)]
        }
        (CellValue::Number(Comparator::Equal, printed), None) => {
            vec![one(&key.statistic, stated, StatementValue::Number(printed))]
        }
        (CellValue::Number(mark, printed), None) => {
            vec![one(&key.statistic, mark, StatementValue::Number(printed))]
        }
        (CellValue::Range(low, high), None) => vec![
            one("min", stated, StatementValue::Number(low)),
            one("max", stated, StatementValue::Number(high)),
        ],
    }
}

impl Part {
    /// This, with what `more` says in its place.
    fn with(mut self, more: &Self) -> Self {
        let Self { metric, statistic, subject, scope, comparator, against, level_of, skip } = more;
        self.metric = metric.clone().or(self.metric);
        self.statistic = statistic.clone().or(self.statistic);
        self.subject = subject.clone().or(self.subject);
        self.scope.extend(scope.clone());
        self.comparator = comparator.or(self.comparator);
        self.against = against.clone().or(self.against);
        self.level_of = level_of.clone().or(self.level_of);
        self.skip |= skip;
        self
    }

    fn resolved(mut self, names: &Names) -> Self {
        self.subject = self.subject.as_deref().map(|name| names.subject(name));
        names.scope(&mut self.scope);
        self.against.iter_mut().for_each(|against| names.against(against));
        self
    }
}
