// Starts a program in TypeScript: its text is the first argument, which is taken away. Its types are
// erased by Node.js, or where that was built without them by amaro, the library that Node.js does it
// with.

import * as module from 'node:module';

const NO_TYPES = 4;

function erase(text) {
  try {
    return module.stripTypeScriptTypes(text);
  } catch {
    const amaro = module.createRequire(`${process.cwd()}/`)(process.env.LAB_AMARO);
    return amaro.transformSync(text, { mode: 'strip-only' }).code;
  }
}

let program;
try {
  program = erase(process.argv.splice(1, 1)[0]);
} catch {
  process.exit(NO_TYPES);
}
await import(`data:text/javascript,${encodeURIComponent(program)}`);
