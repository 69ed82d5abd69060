//! Pure functions over slices.
