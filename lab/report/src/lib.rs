//! Records in, Markdown and TSV out. Pure.
