import { createClone, untilTrue, whileServing } from "../../test/clone.ts";
import type { Screen } from "./terminal-picture.ts";

const working = [
  "npx plugboard add demo -- npx @modelcontextprotocol/server-everything",
  "npx plugboard add memory -- npx @modelcontextprotocol/server-memory",
];
const withoutToken =
  "npx plugboard add -H 'Authorization: Bearer ${ISSUES_TOKEN}' issues https://issues.example/mcp";

/** Several servers, and what to do about the one that is not ready. */
export function statusScreens(): Screen[] {
  const { run, remove } = createClone({ environment: { FORCE_COLOR: "1" } });
  try {
    run([...working, withoutToken].join("\n"));
    const line = "npx plugboard status";
    return [{ title: "plugboard status", text: typed(line, run(line)) }];
  } finally {
    remove();
  }
}

/** The gateway, and another project's client that calls a tool of one of its servers. */
export function gatewayScreens(): Screen[] {
  const { run, remove } = createClone({ environment: { FORCE_COLOR: "1" } });
  const call = [
    "npx mcp-inspector --cli http://127.0.0.1:7420/mcp --transport http \\",
    '    --header "Authorization: Bearer $PLUGBOARD_TOKEN" \\',
    "    --method tools/call --tool-name demo__get-sum --tool-arg a=19 --tool-arg b=23",
  ];
  try {
    run(working.join("\n"));
    const [served = "", called = ""] = run(duringServe(call.join("\n"))).split("\n<called>\n");
    return [
      { title: "the gateway", text: typed("npx plugboard serve", withoutClientLines(served)) },
      { title: "MCP Inspector, a client", text: typed(call.join("\n"), called) },
    ];
  } finally {
    remove();
  }
}

const typed = (line: string, output: string) =>
  `\x1b[1m$ ${line.replaceAll("\n", "\x1b[22m\n\x1b[1m")}\x1b[22m\n${output}`;

/** Leaves out what is said about single clients. Which server is first is up to the servers. */
function withoutClientLines(output: string): string {
  const [servers = ""] = output.split(/^Clients need/m);
  const connected = output.split("\n").filter((line) => line.includes("  connected  "));
  return `${servers}\x1b[2m… and what to paste into each client\x1b[22m\n\n${connected.toSorted().join("\n")}\n`;
}

/** Runs a client's line when the servers of the gateway are there. Prints what both printed. */
function duringServe(line: string): string {
  const client = line.replace(/^npx /, "").replace("http://127.0.0.1:7420/mcp", '"$PLUGBOARD_URL"');
  const lines = [
    // The servers start with the first request. Who asks while they start is shown the tools that are known by then.
    `${client} > ../early 2>&1`,
    untilTrue(`[ "$(grep -c "  connected  " ../served)" = ${working.length} ]`),
    `${client} > ../called`,
  ];
  return `${whileServing(lines.join("\n"))}\ncat ../served; echo; echo '<called>'; cat ../called`;
}
