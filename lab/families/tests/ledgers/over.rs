//! Sessions of one experiment put together, where it is known by how much they differ.

use lab_families::ledgers::Ledgers;
use lab_report::{Frame, Study, over};

use super::sweep::Sweep;

/// Of the logarithm of `owned`'s time: a standard deviation of 3.7 % around 0.
const OFFSETS: [f64; 6] = [0.05, -0.05, 0.03, -0.03, 0.01, -0.01];

fn told(sweeps: &[Sweep]) -> String {
    let frames: Vec<Frame> = sweeps.iter().map(Sweep::frame).collect();
    let studies: Vec<Study> = frames.iter().map(|frame| Study::of(frame, &Ledgers)).collect();
    over(&studies).unwrap()
}

fn sessions() -> Vec<Sweep> {
    let of = |(session, offset): (u32, f64)| {
        let owned_factor = offset.exp();
        Sweep { session, owned_factor, ..Sweep::default() }
    };
    (1..).zip(OFFSETS).map(of).collect()
}

/// The rows that begin with a name.
fn rows<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!("| `{name}`");
    text.lines().filter(|line| line.starts_with(&start)).collect()
}

#[test]
fn what_sessions_carry_is_told_beside_what_holds_over_them() {
    let text = told(&sessions());
    let owned = rows(&text, "owned");
    assert!(!owned.is_empty(), "{text}");
    for row in owned {
        let mut cells = row.split('|').map(str::trim);
        assert!(cells.any(|cell| cell.starts_with("3.") && cell.contains(" %")), "{text}");
        assert!(row.contains("| 6 |") && row.contains("differs by session"), "{text}");
    }
    let contrasts = rows(&text, "eight_against_one");
    assert!(contrasts.len() == 1 && !contrasts[0].contains("differs"), "{text}");
}

#[test]
fn five_sessions_have_no_verdict_and_a_twin_that_differs_withholds_all() {
    let text = told(&sessions()[..5]);
    assert!(text.contains("cannot tell: 5 sessions, and 6 are needed"), "{text}");
    assert!(!text.contains("differs by session"), "{text}");
    let unequal = |one: Sweep| Sweep { twin_factor: 1.02, ..one };
    let text = told(&sessions().into_iter().map(unequal).collect::<Vec<_>>());
    assert!(text.contains("withheld: A/A over sessions"), "{text}");
}
