//! Prints how often the audit is wrong, from 1,000 clean reports and 100 with each planted error.

fn main() {
    print!("{}", lab_audit_trial::rates(1, 1_000).markdown());
}
