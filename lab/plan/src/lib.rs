//! Experiments and manifests in, an ordered list of runs out. Pure.
