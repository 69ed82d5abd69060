//! What a sweep says of its way.

use crate::{
    checkout::{Checkout, Said, alone},
    sixth_family::EXPERIMENT,
};

#[test]
fn cells_are_counted_to_the_end_also_where_a_sweep_goes_on() {
    let _alone = alone();
    let checkout = Checkout::of(EXPERIMENT, &["fast", "slow"]);
    let (stopped, first) = checkout.watched(false, 5);
    assert!(!stopped.finished && stopped.recorded < 10, "{stopped:?}");
    let (end, second) = checkout.watched(true, usize::MAX);
    assert!(end.finished);
    for said in [&first, &second] {
        let counted = |(place, one): (usize, &Said)| one.0 == place && one.1 == end.recorded;
        assert!(said.iter().enumerate().all(counted), "{said:?} of {end:?}");
        assert!(said.windows(2).all(|pair| pair[0].2 <= pair[1].2 && pair[0].3 == pair[1].3));
    }
    let (cells_done, cells, done_ms, total_ms) = *second.last().unwrap();
    assert_eq!((cells_done, done_ms), (cells, total_ms));
    assert!(first.last().unwrap().0 < cells);
}
