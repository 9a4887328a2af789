/**
 * Measures what it costs to hide secrets in an ordinary error of a server, by the number of long tokens that were sent
 * to it. Run: node bench/redaction.ts
 */
import { randomBytes } from "node:crypto";
import { PlugboardError } from "../src/errors.ts";
import { Redaction } from "../src/servers/redaction.ts";

const rounds = 20_000;
const text = `Server "issues" returned HTTP 502 for tools/call: upstream request failed, please retry. ${"at Object.handle (/srv/app/routes.js:120:17) ".repeat(6)}`;

for (const count of [0, 1, 8, 32]) {
  const redaction = new Redaction(
    Array.from({ length: count }, () => randomBytes(900).toString("base64url")),
  );
  const error = new PlugboardError("server-error", text, {
    server: "issues",
    data: { status: 502, stderr: text },
  });
  const measure = (work: () => unknown) => {
    for (let round = 0; round < rounds / 10; round++) work();
    const started = performance.now();
    for (let round = 0; round < rounds; round++) work();
    return (((performance.now() - started) / rounds) * 1000).toFixed(1);
  };
  const times = [measure(() => redaction.text(text)), measure(() => redaction.error(error))];
  console.log(`${count} tokens: a text of ${text.length} characters ${times[0]} µs, an error ${times[1]} µs`);
}
