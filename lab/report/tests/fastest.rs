//! Which of several is fastest, on times whose answer is known.

use lab_report::{Fastest, Series};

/// So many blocks of times around a middle, a hundredth apart.
fn times(middle: f64, blocks: u32) -> Series {
    (0..blocks).map(|block| (block, middle * (1.0 + 0.01 * f64::from(block % 3)))).collect()
}

#[test]
fn a_clear_winner_stands_alone_and_the_others_follow_by_their_medians() {
    let timed = [("slow", times(400.0, 9)), ("fast", times(100.0, 9)), ("next", times(200.0, 9))];
    let found = Fastest::of(&timed).unwrap();
    assert_eq!((found.best, found.n(), found.is_alone()), ("fast", 9, true));
    assert_eq!(found.tied, ["fast"]);
    let (next, twice) = found.runner_up();
    assert_eq!(*next, "next");
    assert!((twice.estimate.exp() - 2.0).abs() < 1e-9, "{}", twice.estimate);
    assert_eq!(found.slowest().0, "slow");
}

#[test]
fn equal_times_tie_in_the_order_given() {
    let timed = [(4, times(100.0, 9)), (2, times(100.0, 9)), (8, times(300.0, 9))];
    let found = Fastest::of(&timed).unwrap();
    assert_eq!((found.best, found.is_judged(), found.is_alone()), (4, true, false));
    assert_eq!(found.tied, [4, 2]);
}

#[test]
fn few_blocks_give_a_median_and_no_judgement() {
    let found = Fastest::of(&[("a", times(100.0, 3)), ("b", times(200.0, 3))]).unwrap();
    assert_eq!((found.best, found.is_judged(), found.is_alone()), ("a", false, false));
}

#[test]
fn what_shares_no_block_has_no_fastest() {
    assert!(Fastest::of(&[("a", times(100.0, 3))]).is_none());
    let later = Series::from([(7, 50.0)]);
    assert!(Fastest::of(&[("a", times(100.0, 3)), ("b", later)]).is_none());
    assert!(Fastest::<u32>::of(&[]).is_none());
}
