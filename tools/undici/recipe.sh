# shellcheck shell=bash
# undici, an HTTP client for Node.js, with which the variant `node_undici` of the runtimes is built.
npm_peer undici undici LAB_UNDICI /node_modules/undici
