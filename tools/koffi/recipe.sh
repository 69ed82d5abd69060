# shellcheck shell=bash
# koffi, through which Node.js calls C: for workers of the level `node_ffi`.
npm_peer koffi koffi LAB_KOFFI /node_modules/koffi
