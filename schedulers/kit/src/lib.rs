//! What the schedulers family shares.
