# shellcheck shell=bash
# DuckDB's Python module: the peer `duckdb` of the search comparison.
python_peer duckdb duckdb LAB_DUCKDB_PYTHON duckdb
