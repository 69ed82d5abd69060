# shellcheck shell=bash
# Restate's server and its SDK for Node.js: the peer `restate` of the workflow comparison.
npm_peer Restate @restatedev/restate-server LAB_RESTATE ""
