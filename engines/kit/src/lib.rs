//! What the engines family shares.
