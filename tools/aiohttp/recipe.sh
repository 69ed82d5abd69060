# shellcheck shell=bash
# aiohttp for Python with uvloop, with which the variant `python_aiohttp` of the runtimes is built.
python_peer aiohttp aiohttp LAB_AIOHTTP_PYTHON aiohttp uvloop
