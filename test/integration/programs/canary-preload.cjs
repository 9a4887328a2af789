// Loaded before the command line: writes down which programs it starts, and lets it crash when it is told to.
const { appendFileSync } = require("node:fs");
const { subscribe } = require("node:diagnostics_channel");

const { CANARY_STARTED: file, CANARY_CRASH: mayCrash } = process.env;
const children = [];
subscribe("child_process", ({ process: child }) => children.push(child));
process.on("exit", () => {
  for (const { spawnargs } of children) appendFileSync(file, `${JSON.stringify(spawnargs)}\n`);
});
if (mayCrash) {
  process.on("SIGUSR2", () => {
    throw new Error("a crash on demand");
  });
}
