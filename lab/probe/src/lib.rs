//! What machine this is, how noisy it is, what its floors are.
