//! What does not match costs no memory. A program of its own, for its allocator counts.

#![expect(unsafe_code, reason = "an allocator is unsafe by its signature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use engines_kit::{Advise, Granularity, Parser, Read, Search, Workload};
use lab_protocol::engines::Query;

struct Counting;

thread_local! {
    /// Of this thread alone: the test's own harness allocates on another one.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|count| count.set(count.get() + 1));
}

// SAFETY: it passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of a second pass over `lines`, when every buffer has its size.
fn allocations(text: &str, prefilter: bool, parser: Parser, lines: &[u8]) -> u64 {
    let query = Query { text: text.to_owned(), ..Query::default() };
    let workload = Workload {
        corpus: String::new(),
        query,
        threads: None,
        read: Read::Buffered,
        chunk: Granularity::Own,
        buffer_bytes: None,
        buffer_adapts: false,
        channel_bound: None,
        semaphore: None,
        result_capacity: 0,
        prefilter,
        parser,
        advise: Advise::None,
        cold: false,
    };
    let search = Search::new(workload).unwrap();
    let mut worker = search.worker();
    worker.search(0, 0, lines);
    let before = ALLOCATIONS.with(Cell::get);
    worker.search(0, 0, lines);
    let after = ALLOCATIONS.with(Cell::get);
    let mut merger = search.merger();
    merger.add(worker.finish());
    assert_eq!(merger.finish().tally.matches, 0, "{text}");
    after - before
}

#[test]
fn lines_that_do_not_match_allocate_nothing() {
    let plain = concat!(
        r#"{"type":"user","message":{"role":"user","content":"plain text"},"n":[1,{"a":2.5}]}"#,
        "\n",
        r#"{"type":"assistant","message":{"content":[{"text":"a"},{"text":"b","x":null}]}}"#,
        "\n",
    );
    let escaped = "{\"message\":{\"content\":\"a\\nb \\\"needle\\\" \\u00e9\"}}\n";
    let (plain, escaped) = (plain.repeat(500), escaped.repeat(500));
    let many: Vec<String> = (0..50).map(|number| format!("absent{number}")).collect();
    let many = many.join(" OR ");
    // The first line's candidate is parsed because of its literal, and its field has none.
    let elsewhere = plain.replace("plain", "empty");
    for parser in [Parser::Spans, Parser::SerdeLazy] {
        for text in ["absent", "absent OR missing", "absent needle", "/abse?nt/i", &many] {
            for lines in [&plain, &escaped] {
                assert_eq!(allocations(text, true, parser, lines.as_bytes()), 0, "{text}");
            }
        }
        // Without a prefilter every line is parsed; what is lent is not copied.
        for text in ["absent", "/abse?nt/i"] {
            assert_eq!(allocations(text, false, parser, plain.as_bytes()), 0, "{text}");
        }
        assert_eq!(allocations("assistant", true, parser, elsewhere.as_bytes()), 0);
    }
}
