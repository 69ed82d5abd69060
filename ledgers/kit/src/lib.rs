//! What the ledgers family shares.
