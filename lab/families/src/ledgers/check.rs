//! Ledgers: every repetition's answer is held against the floor's, and against the law that money
//! is conserved.

use lab_family::{column, lived};
use lab_protocol::ledgers::names;
use lab_protocol::{RunOutcome, ledgers::Workload};

/// The column that identifies all accounts.
const HASH: &str = names::ANSWER_HASH;

/// The columns fit the workload, and the run did not measure more time than it lived.
///
/// # Errors
/// A sentence that names the column or both times.
pub(crate) fn times(
    workload: &Workload,
    outcome: &RunOutcome,
    process_ns: u64,
) -> Result<(), String> {
    let rows = workload.repetitions as usize;
    for name in [names::ELAPSED_NS, names::TEARDOWN_NS] {
        let times = column(outcome, name, rows)?;
        lived(times, process_ns).map_err(|error| format!("column {name}: {error}"))?;
    }
    Ok(())
}

/// Every repetition's answer.
///
/// # Errors
/// A sentence that names the repetition and both values.
pub(crate) fn answers(
    workload: &Workload,
    outcome: &RunOutcome,
    floor: &RunOutcome,
) -> Result<(), String> {
    let rows = workload.repetitions as usize;
    let of = |name: &str| column(outcome, name, rows);
    let (hash, total) = (of(HASH)?, of(names::ANSWER_TOTAL)?);
    let (deposited, withdrawn) = (of(names::ANSWER_DEPOSITED)?, of(names::ANSWER_WITHDRAWN)?);
    let charged_back = of(names::ANSWER_CHARGED_BACK)?;
    let truth = *column(floor, HASH, 1)?.first().ok_or("the floor has no answer")?;
    for row in 0..rows {
        let wide = |column: &[i64]| i128::from(column[row]);
        let kept = wide(deposited) - wide(withdrawn) - wide(charged_back);
        if wide(total) != kept {
            return Err(format!(
                "repetition {row}: the total is {}, deposits less withdrawals and chargebacks \
                 are {kept}",
                total[row]
            ));
        }
        if hash[row] != truth {
            let says = hash[row];
            return Err(format!("repetition {row}: {HASH} is {says}, the floor's is {truth}"));
        }
    }
    Ok(())
}
