import type { Introduction } from "../host.ts";
import { isRecord } from "../lib/record.ts";
import { inFairShares } from "../lib/fair-shares.ts";
import { uiExtension } from "./apps.ts";

export interface EndpointDescription {
  capabilities: Record<string, unknown>;
  instructions?: string;
}

const maxInstructions = 8_000;

/** What works alike for all servers where several are shown. Others may mean more than methods that reach one server. */
const sharedExtensions = [uiExtension, "io.modelcontextprotocol/tasks"];
const sharedExperiments = ["codex/sandbox-state"];

/** What an endpoint says about itself, by what its servers say or said last. `isAlone` if there can be only one. */
export function describeServers(
  introductions: ReadonlyMap<string, Introduction>,
  { isAlone }: { isAlone: boolean },
): EndpointDescription {
  const merged = (key: string, shared: readonly string[]) => {
    const all = [...introductions.values()].flatMap(({ capabilities }) =>
      Object.entries(recordIn(capabilities, key)),
    );
    return Object.fromEntries(all.filter(([name]) => isAlone || shared.includes(name)));
  };
  const experimental = merged("experimental", sharedExperiments);
  const extensions = merged("extensions", sharedExtensions);
  const capabilities = {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...(Object.keys(experimental).length > 0 && { experimental }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
  const instructions = instructionsOf(introductions, isAlone);
  return { capabilities, ...(instructions !== "" && { instructions }) };
}

function instructionsOf(introductions: ReadonlyMap<string, Introduction>, isAlone: boolean): string {
  const texts = [...introductions].flatMap(([name, { instructions }]) => {
    if (!instructions) return [];
    return [isAlone ? instructions : `# ${name}\n${instructions}`];
  });
  const between = "\n\n";
  return inFairShares(texts, maxInstructions - between.length * (texts.length - 1)).join(between);
}

function recordIn(value: unknown, key: string): Record<string, unknown> {
  const member = isRecord(value) ? value[key] : undefined;
  return isRecord(member) ? member : {};
}
