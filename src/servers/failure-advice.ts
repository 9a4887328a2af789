import { knownNeed } from "../auth/known-needs.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import { passOnAdvice, withheldVariables } from "../lib/withheld-variables.ts";
import { explainLauncher } from "./launcher-failure.ts";
import type { Target } from "./target.ts";

interface FailedServer {
  target: Target;
  config: ServerConfig | undefined;
  env: Environment;
  home: string;
}

/** Adds what would help to the reason why a server could not be opened. */
export async function explainFailure(
  error: unknown,
  { target, config, env, home }: FailedServer,
): Promise<unknown> {
  const explained = await explainLauncher(error, target, { env, home });
  if (!isPlugboardError(explained)) return explained;
  if (target.kind === "stdio") return explained === error ? askedFor(explained, target, env) : explained;
  // With a client of one's own, a login works where none can be registered.
  const canLogIn = explained.code !== "auth-required" || config?.oauth?.clientId !== undefined;
  const need = canLogIn || !("url" in target) ? undefined : knownNeed(target.url.hostname);
  return need === undefined ? explained : explained.with({ hint: need });
}

const startFailures: ReadonlySet<string> = new Set(["server-exited", "start-timeout", "protocol-error"]);

/** Programs often name the variable that they miss; it may be set here without being passed on. */
function askedFor(
  error: PlugboardError,
  { program }: Target & { kind: "stdio" },
  env: Environment,
): PlugboardError {
  if (!startFailures.has(error.code)) return error;
  const { stderr } = error.data ?? {};
  const words = `${error.message}\n${typeof stderr === "string" ? stderr : ""}`;
  const withheld = withheldVariables(words, env, program);
  return withheld.length === 0
    ? error
    : error.with({ hint: passOnAdvice(withheld), data: { ...error.data, withheld } });
}
