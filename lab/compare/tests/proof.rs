//! The proof in small: on stored noise, the answers err as seldom as they say.

use lab_compare::replay::{BisectSize, Size, bisects, prove, recordings};

#[test]
fn every_target_is_met_on_every_recording() {
    for noise in recordings() {
        prove(&noise, Size::SMALL, 1, &mut |row| assert_ne!(row.met(), Some(false), "{row:?}"));
    }
}

#[test]
fn searches_name_the_planted_commit_on_every_recording() {
    for noise in recordings() {
        let mut met = |row: lab_compare::replay::Row| assert_ne!(row.met(), Some(false), "{row:?}");
        bisects(&noise, BisectSize::SMALL, 1, &mut met);
    }
}
