//! Sweeps of the `toys` family, from experiment to report, through the doors that `lab run` uses.

mod carry;
mod checkout;
mod clock;
mod foreign;
mod kept;
mod progress;
mod rounds;
mod sixth_family;
