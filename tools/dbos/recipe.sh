# shellcheck shell=bash
# DBOS for Python, with what is part of every statement's path: the peer `dbos` of the workflow
# comparison.
python_peer DBOS dbos LAB_DBOS_PYTHON dbos psycopg
