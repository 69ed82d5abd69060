//! Rules that the repository keeps about itself, as functions over file contents.
