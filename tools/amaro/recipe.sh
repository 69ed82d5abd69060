# shellcheck shell=bash
# amaro, which erases the types of TypeScript for a Node.js that was built without it: for workers of
# the levels `typescript_ffi` and `typescript_process`.
npm_peer amaro amaro LAB_AMARO /node_modules/amaro
