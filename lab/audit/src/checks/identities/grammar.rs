//! The expressions that are tried, without their factor.

/// A form with its columns filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) form: Form,
    columns: [usize; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Same,
    Inverse,
    Sum,
    Difference,
    Product,
    Quotient,
    Share,
    Change,
    Least,
    Greatest,
    LeastOverGreatest,
    Balance,
    Sum3,
    SumOver,
    DifferenceOver,
    ProductOver,
    OverProduct,
    OverSum,
}

use Form::{
    Balance, Change, Difference, DifferenceOver, Greatest, Inverse, Least, LeastOverGreatest,
    OverProduct, OverSum, Product, ProductOver, Quotient, Same, Share, Sum, Sum3, SumOver,
};

/// How the columns of a form may change places without changing it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    None,
    FirstTwo,
    LastTwo,
    All,
}

const FORMS: [Form; 18] = [
    Same,
    Inverse,
    Sum,
    Difference,
    Product,
    Quotient,
    Share,
    Change,
    Least,
    Greatest,
    LeastOverGreatest,
    Balance,
    Sum3,
    SumOver,
    DifferenceOver,
    ProductOver,
    OverProduct,
    OverSum,
];

/// Every form with every choice of columns; those of three only from the first `most` columns.
pub(super) fn expressions(columns: usize, most: usize) -> Vec<Expression> {
    let mut all = Vec::new();
    for form in FORMS {
        let (arity, symmetry) = (form.arity(), form.symmetry());
        let few = if arity == 3 { columns.min(most) } else { columns.min(10 * most) };
        let ends = [few, if arity > 1 { few } else { 1 }, if arity > 2 { few } else { 1 }];
        for a in 0..ends[0] {
            for b in 0..ends[1] {
                for c in 0..ends[2] {
                    let chosen = [a, b, c];
                    if distinct(&chosen[..arity]) && ordered(chosen, symmetry) {
                        all.push(Expression { form, columns: chosen });
                    }
                }
            }
        }
    }
    all
}

impl Expression {
    /// The columns that it uses.
    pub(super) fn columns(self) -> impl Iterator<Item = usize> {
        self.columns.into_iter().take(self.form.arity())
    }

    /// Its value where `of` gives that of a column.
    pub(super) fn at(self, of: impl Fn(usize) -> f64) -> f64 {
        let a = of(self.columns[0]);
        let b = || of(self.columns[1]);
        let c = || of(self.columns[2]);
        match self.form {
            Same => a,
            Inverse => 1.0 / a,
            Sum => a + b(),
            Difference => a - b(),
            Product => a * b(),
            Quotient => a / b(),
            Share => a / (a + b()),
            Change => (a - b()) / b(),
            Least => a.min(b()),
            Greatest => a.max(b()),
            LeastOverGreatest => a.min(b()) / a.max(b()),
            Balance => (a + b()) / a.max(b()),
            Sum3 => a + b() + c(),
            SumOver => (a + b()) / c(),
            DifferenceOver => (a - b()) / c(),
            ProductOver => a * b() / c(),
            OverProduct => a / (b() * c()),
            OverSum => a / (b() + c()),
        }
    }

    /// Whether a minimum or maximum is that of one and the same column on every row, so that a
    /// shorter expression says the same.
    pub(super) fn is_one_sided(self, rows: usize, of: impl Fn(usize, usize) -> f64) -> bool {
        let [a, b, _] = self.columns;
        let smaller = (0..rows).filter(|&row| of(a, row) <= of(b, row)).count();
        let chooses = matches!(self.form, Least | Greatest | LeastOverGreatest | Balance);
        chooses && (smaller == 0 || smaller == rows)
    }

    /// The expression with its factor and its columns' names.
    pub(super) fn formula(self, factor: f64, names: &[String]) -> String {
        let a = names[0].as_str();
        let b = names.get(1).map_or("", String::as_str);
        let c = names.get(2).map_or("", String::as_str);
        let plain = match self.form {
            Same => a.to_owned(),
            Inverse => format!("1 / {a}"),
            Sum => format!("({a} + {b})"),
            Difference => format!("({a} - {b})"),
            Product => format!("{a} · {b}"),
            Quotient => format!("{a} / {b}"),
            Share => format!("{a} / ({a} + {b})"),
            Change => format!("({a} - {b}) / {b}"),
            Least => format!("min({a}, {b})"),
            Greatest => format!("max({a}, {b})"),
            LeastOverGreatest => format!("min({a}, {b}) / max({a}, {b})"),
            Balance => format!("({a} + {b}) / max({a}, {b})"),
            Sum3 => format!("({a} + {b} + {c})"),
            SumOver => format!("({a} + {b}) / {c}"),
            DifferenceOver => format!("({a} - {b}) / {c}"),
            ProductOver => format!("{a} · {b} / {c}"),
            OverProduct => format!("{a} / ({b} · {c})"),
            OverSum => format!("{a} / ({b} + {c})"),
        };
        if factor == 1.0 { plain } else { format!("{factor} · {plain}") }
    }
}

impl Form {
    /// How long the formula is to read.
    pub(super) fn length(self) -> usize {
        match self {
            Same | Inverse => 0,
            Sum | Difference | Product | Quotient | Least | Greatest | Sum3 => 1,
            Share | Change | LeastOverGreatest | SumOver | ProductOver => 2,
            Balance | DifferenceOver | OverProduct | OverSum => 3,
        }
    }

    fn arity(self) -> usize {
        match self {
            Same | Inverse => 1,
            Sum3 | SumOver | DifferenceOver | ProductOver | OverProduct | OverSum => 3,
            _ => 2,
        }
    }

    fn symmetry(self) -> Symmetry {
        match self {
            Sum | Product | Least | Greatest | LeastOverGreatest | Balance => Symmetry::FirstTwo,
            // The factor's sign turns a difference round.
            Difference | DifferenceOver | SumOver | ProductOver => Symmetry::FirstTwo,
            OverProduct | OverSum => Symmetry::LastTwo,
            Sum3 => Symmetry::All,
            Same | Inverse | Quotient | Share | Change => Symmetry::None,
        }
    }
}

/// The nearest number that people choose for a factor, where one lies within half a percent.
pub(super) fn nice(factor: f64) -> f64 {
    let size = factor.abs();
    let scale = 10f64.powi(size.log10().floor() as i32);
    let bases = [1.0, 1.2, 1.25, 1.5, 2.0, 2.5, 3.0, 3.6, 4.0, 5.0, 6.0, 7.5, 8.0, 8.64, 9.0, 10.0];
    let third = [10.0 / 6.0, 10.0 / 3.0, 10.0 / 3.6, 20.0 / 3.0, 1.024, 1.048_576, 9.765_625];
    let off = |base: &f64| (size / scale / base - 1.0).abs();
    let nearest = bases.into_iter().chain(third).min_by(|a, b| off(a).total_cmp(&off(b)));
    match nearest.filter(|base| off(base) < 5e-3) {
        Some(base) => (base * scale).copysign(factor),
        None => factor,
    }
}

fn distinct(chosen: &[usize]) -> bool {
    chosen.iter().enumerate().all(|(index, column)| !chosen[..index].contains(column))
}

fn ordered([a, b, c]: [usize; 3], symmetry: Symmetry) -> bool {
    match symmetry {
        Symmetry::None => true,
        Symmetry::FirstTwo => a < b,
        Symmetry::LastTwo => b < c,
        Symmetry::All => a < b && b < c,
    }
}
