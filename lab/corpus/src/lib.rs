//! A seeded generator of chat sessions as JSON Lines.
