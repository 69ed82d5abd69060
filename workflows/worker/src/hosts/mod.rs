//! Workers in other languages: programs as text, which an interpreter is given as an argument.
//!
//! They are compiled in so that what ran is covered by the hash of the back end's program, and so
//! that it is found wherever that lies. Each takes `process`, or `ffi` and the path of the library;
//! with [`LACKING`] it says that a piece of its language is not installed.

/// Python 3.8 or newer; ctypes.
pub const PYTHON: &str = include_str!("worker.py");
/// Ruby 2.7 or newer; Fiddle.
pub const RUBY: &str = include_str!("worker.rb");
/// Node.js 16 or newer; koffi, at the path in the environment variable `LAB_KOFFI`.
pub const NODE: &str = include_str!("worker.mjs");
/// TypeScript whose types can be erased, an argument of [`ERASING`]; koffi too.
pub const TYPESCRIPT: &str = include_str!("worker.mts");
/// Starts it in Node.js 22 or newer, where that has no TypeScript with amaro, at the path in the
/// environment variable `LAB_AMARO`.
pub const ERASING: &str = include_str!("typescript.mjs");

/// The exit code that says so.
pub const LACKING: i32 = 3;
/// The exit code of [`ERASING`] where nothing erases types.
pub const NO_TYPES: i32 = 4;
