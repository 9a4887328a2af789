import { describeOrigin } from "../../index.ts";
import type { ServerEntry } from "../../index.ts";
import { painter, safe } from "../terminal/print.ts";
import { targetOf } from "./server.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The exact entry, nothing shortened: whoever allows it must have been able to see it. */
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
      (text) => `  ${paint("yellow", `careful   ${text}`)}`,
    ),
  ];
  return `${lines.join("\n")}\n\n`;
}

const signs: [RegExp, string][] = [
  [/\bsudo\b|\bdoas\b/, "it asks for more rights than yours"],
  [/\brm\b[^"]*-[a-z]*[rf]/, "it deletes files"],
  [/\b(curl|wget|nc|ncat)\b/, "it fetches or sends data over the network"],
  [
    /\b(ba|z|da|k)?sh -\w*c\b|\b(node|deno|bun|npx) (-e|-p|-c|--eval|--call)\b|\bpython3? -c\b/,
    "it runs a script given on its command line",
  ],
  [/\$\{cmd:/, "it runs a command to get a value"],
  [/headersHelper/, "it runs a command to get headers"],
  [/\$\{(file|secret):/, "it reads a file or a secret of yours"],
  [/\.ssh|\.aws|\.gnupg|\.netrc|id_rsa|\.kube/, "it names a place where credentials are kept"],
  [/NODE_OPTIONS|LD_PRELOAD|DYLD_INSERT|PYTHONPATH/, "it changes how programs are loaded"],
];

function warnings(text: string): string[] {
  return signs.filter(([sign]) => sign.test(text)).map(([, words]) => words);
}
