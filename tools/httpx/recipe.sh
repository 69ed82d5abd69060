# shellcheck shell=bash
# httpx for Python, with which the variant `python_httpx` of the runtimes is built.
python_peer httpx httpx LAB_HTTPX_PYTHON httpx
