//! The paced Ollama server: truth with a time stamp in every token.
