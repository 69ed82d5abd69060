//! Panics as errors of the family.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a run has no numbers, in the words of the family; the text is the outcome's `reason`.
pub trait Failure: Display {
    /// The variant panicked with this text.
    fn panicked(text: String) -> Self;

    /// Whether the variant cannot do this workload, rather than having failed at it.
    fn is_unsupported(&self) -> bool {
        false
    }
}

/// What `work` gives, and its panic as an error.
///
/// # Errors
/// Those of `work`, and [`Failure::panicked`].
pub fn caught<T, E: Failure>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let result = catch_unwind(AssertUnwindSafe(work));
    result.unwrap_or_else(|panic| Err(E::panicked(panic_text(&*panic))))
}

/// What a panic said; nothing where it said no text.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_default()
}
