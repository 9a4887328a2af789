import { canonicalJson, hmac } from "../lib/canonical.ts";
import type { Environment } from "../lib/folders.ts";
import { matchesAny } from "../lib/glob.ts";
import { serverEnvironment } from "./process/environment.ts";
import { foundProgram, realPathOf } from "./process/found-program.ts";
import type { Target } from "./target.ts";

/**
 * What runs or is contacted, with every value as it is used: the same entry can lead to another place when a variable
 * or a secret has changed. It holds secrets, so it stays in memory, and only its keyed hash is written down.
 */
export class TargetIdentity {
  readonly #text: string;
  /** Whether a hash without a key would let somebody who has it try out secrets. */
  readonly hasSecrets: boolean;

  constructor(text: string, hasSecrets: boolean) {
    this.#text = text;
    this.hasSecrets = hasSecrets;
  }

  equals(other: TargetIdentity): boolean {
    return this === other || this.#text === other.#text;
  }

  /** `more` is what else decides, for instance the headers of one request. */
  hash(key: Uint8Array, more = ""): string {
    return hmac(key, `${this.#text}\n${more}`);
  }
}

export function targetIdentity(
  target: Target,
  env: Environment,
  sensitive: readonly string[],
): TargetIdentity {
  return new TargetIdentity(canonicalJson(decisive(target, env)), sensitive.length > 0);
}

function decisive(target: Target, env: Environment): unknown {
  if (target.kind === "memory") return { kind: target.kind, name: target.name };
  if (target.kind === "stdio") {
    const { command, args = [], cwd, env: own, inheritEnv = [], sandbox } = target.program;
    const names = Object.keys(env).filter((name) => matchesAny(inheritEnv, name));
    const inherited = Object.fromEntries(names.map((name) => [name, env[name]]));
    // The same word is another program where PATH leads elsewhere.
    const found = foundProgram(
      command,
      cwd ?? process.cwd(),
      serverEnvironment({ parent: env, env: own, inheritEnv, owner: "" }),
    );
    const program = found && realPathOf(found);
    return { kind: target.kind, program, command, args, cwd, env: { ...inherited, ...own }, sandbox };
  }
  const { kind, url, headers, network, credentials } = target;
  return { kind, url: url.href, headers, network, credentials };
}
