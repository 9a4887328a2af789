import { describeOrigin } from "../../index.ts";
import type { ServerEntry } from "../../index.ts";
import { painter, safe } from "../terminal/print.ts";
import { targetOf } from "./server.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Shows the entry in full: users must see everything they allow. */
export function trustView(entry: ServerEntry, terminal: Terminal): string {
  const paint = painter(terminal);
  const { name, origin, written } = entry;
  const {
    command: _command,
    args: _args,
    url: _url,
    type: _type,
    ...rest
  } = (written ?? {}) as Record<string, unknown>;
  const verb = entry.config?.url === undefined ? "starts" : "contacts";
  const lines = [
    `${paint("bold", safe(name))}  ${paint("dim", safe(describeOrigin(origin)))}`,
    `  ${verb.padEnd(9)} ${safe(targetOf(entry, true))}`,
    ...Object.entries(rest).map(([key, value]) => `  ${safe(key).padEnd(9)} ${safe(JSON.stringify(value))}`),
    ...warnings(`${targetOf(entry, true)}\n${JSON.stringify(written)}`).map(
      (text) => `  ${paint("yellow", `warning   ${text}`)}`,
    ),
  ];
  return `${lines.join("\n")}\n\n`;
}

const riskPatterns: [RegExp, string][] = [
  [/\bsudo\b|\bdoas\b/, "runs with elevated privileges"],
  [/\brm\b[^"]*-[a-z]*[rf]/, "deletes files"],
  [/\b(curl|wget|nc|ncat)\b/, "transfers data over the network"],
  [
    /\b(ba|z|da|k)?sh -\w*c\b|\b(node|deno|bun|npx) (-e|-p|-c|--eval|--call)\b|\bpython3? -c\b/,
    "runs a script given on its command line",
  ],
  [/\$\{cmd:/, "runs a command to get a value"],
  [/headersHelper/, "runs a command to get headers"],
  [/\$\{(file|secret):/, "reads one of your files or secrets"],
  [/\.ssh|\.aws|\.gnupg|\.netrc|id_rsa|\.kube/, "refers to a place where credentials are stored"],
  [/NODE_OPTIONS|LD_PRELOAD|DYLD_INSERT|PYTHONPATH/, "changes how programs are loaded"],
];

function warnings(text: string): string[] {
  return riskPatterns.filter(([sign]) => sign.test(text)).map(([, words]) => words);
}
