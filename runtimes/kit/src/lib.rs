//! Sans-I/O parts that every LLM agent client shares.
