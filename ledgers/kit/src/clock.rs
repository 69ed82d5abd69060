//! The clock that the costs of a run are read from, beside [`now_ns`](crate::now_ns).

pub(crate) use lab_variant::cpu_ns;
