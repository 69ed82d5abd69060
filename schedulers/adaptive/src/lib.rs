//! Inline or offload: decides per call site where work runs.
