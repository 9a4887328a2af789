/** The oldest Node.js that Plugboard runs on; a test keeps it equal to package.json. */
export const oldestNode = "22.22.2";

type Versions = Readonly<Record<string, string | undefined>>;

/** What runs us: Bun and Deno say which Node.js they are compatible with, too. */
export function runtimeOf(versions: Versions): { name: string; version: string } {
  const { bun, deno, node = "0" } = versions;
  if (bun !== undefined) return { name: "Bun", version: bun };
  return deno === undefined ? { name: "Node.js", version: node } : { name: "Deno", version: deno };
}

/** One sentence for people whose runtime is too old; undefined if it is not. */
export function runtimeProblem(versions: Versions): string | undefined {
  const node = versions["node"] || "0";
  if (!isOlder(node, oldestNode)) return undefined;
  const { name, version } = runtimeOf(versions);
  if (name === "Node.js") return `Plugboard needs Node.js ${oldestNode} or newer; this is Node.js ${node}.`;
  return `Plugboard needs a ${name} that is compatible with Node.js ${oldestNode} or newer; ${name} ${version} is compatible with Node.js ${node}.`;
}

function isOlder(version: string, than: string): boolean {
  const [own, wanted] = [version, than].map((text) => text.split(".").map(Number));
  for (let at = 0; at < 3; at++) {
    const [a = 0, b = 0] = [own?.[at], wanted?.[at]];
    if (a !== b) return a < b;
  }
  return false;
}
