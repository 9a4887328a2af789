import { PlugboardError, isPlugboardError } from "../errors.ts";
import { issuesInWords } from "../lib/issue-words.ts";
import { isRecord } from "../lib/record.ts";
import { provesModern } from "./era.ts";
import type { Era, EraMemory, EraPlan, ProbeOutcome } from "./era.ts";
import { ownAnswerHint } from "./rpc/errors.ts";
import { clientInfo, modernEnvelope } from "./rpc/envelope.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import type { JsonRpcAnswer } from "./rpc/messages.ts";
import { legacyRevisions, modernRevision } from "./rpc/revisions.ts";

/** What a server said about itself. */
export interface Greeting {
  era: Era;
  basis: EraMemory["basis"];
  /** The era to remember, where it differs: what the server could have been used as. */
  remembered?: Era;
  version: string;
  capabilities: Record<string, unknown>;
  serverInfo?: Record<string, unknown>;
  instructions?: string;
}

export interface HandshakeOptions {
  server: string;
  plan: EraPlan;
  capabilities: Capabilities;
  /** Aborts the handshake; the caller sees its reason. */
  signal: AbortSignal;
  request(method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpcAnswer>;
  /** Over HTTP: turns a failed request into evidence about the era, or throws if it is not (401, refused, TLS …). */
  refusal?(error: unknown): ProbeOutcome;
  /** Over a pipe: when the program last printed anything, by `performance.now()`; undefined while it has not. */
  spokeAt?(): number | undefined;
  /** Over a pipe: true while a launcher still installs the program; what is printed until then is the launcher's. */
  isInstalling?(): boolean;
  /** Over a pipe: true if there is time to start the program again. */
  mayRestart?(): boolean;
}

/** Says nothing about eras: the server had a problem of its own. */
const internalError = -32_603;

/** The answer to `server/discover`, or what came instead of it. */
export interface Probe {
  outcome: ProbeOutcome;
  greeting?: Greeting;
  /** Reported if `initialize` fails too. */
  error?: unknown;
}

/** Repeats the probe once if the server rejects the revision but lists that same revision as supported. */
export async function discover(options: HandshakeOptions, signal: AbortSignal): Promise<Probe> {
  const first = await discoverOnce(options, signal);
  const { outcome } = first;
  const isShared =
    outcome.kind === "refused" && provesModern(outcome.code) && outcome.supported?.includes(modernRevision);
  return isShared ? discoverOnce(options, signal) : first;
}

export async function discoverOnce(
  { capabilities, request, refusal }: HandshakeOptions,
  signal: AbortSignal,
): Promise<Probe> {
  let answer: JsonRpcAnswer;
  try {
    answer = await request("server/discover", { _meta: modernEnvelope(capabilities) }, signal);
  } catch (error) {
    if (isPlugboardError(error, "server-exited")) return { outcome: { kind: "exited" }, error };
    if (signal.aborted) throw error;
    if (!refusal) throw error;
    return { outcome: refusal(error), error };
  }
  if ("error" in answer) {
    const { code, data } = answer.error;
    if (code === internalError) return { outcome: { kind: "unclear" } };
    const supported =
      isRecord(data) && Array.isArray(data["supported"]) ? (data["supported"] as string[]) : undefined;
    return { outcome: { kind: "refused", code, ...(supported && { supported }) } };
  }
  const greeting = readDiscovery(answer.result);
  return greeting ? { outcome: { kind: "modern" }, greeting } : { outcome: { kind: "refused" } };
}

/** Sends `initialize` and reads the answer. */
export async function initialize(
  { server, capabilities, request, signal }: HandshakeOptions,
  basis: EraMemory["basis"],
): Promise<Greeting> {
  const params = { protocolVersion: legacyRevisions[0], capabilities, clientInfo };
  const answer = await request("initialize", params, signal);
  if ("error" in answer) {
    const { code, message } = answer.error;
    const isVersion = provesModern(code);
    throw new PlugboardError(
      isVersion ? "version-unsupported" : "protocol-error",
      `"${server}" rejected \`initialize\`: ${issuesInWords(message)} (${code}).`,
      { server, data: { rpcCode: code }, ...(!isVersion && { hint: ownAnswerHint }) },
    );
  }
  const { protocolVersion, capabilities: offered, serverInfo, instructions } = answer.result;
  if (typeof protocolVersion !== "string" || !isRecord(offered) || !isRecord(serverInfo)) {
    throw new PlugboardError("protocol-error", `"${server}" sent an incomplete \`initialize\` result.`, {
      server,
    });
  }
  if (!(legacyRevisions as readonly string[]).includes(protocolVersion))
    throw unsupported(server, [protocolVersion]);
  return {
    era: "legacy",
    basis,
    version: protocolVersion,
    capabilities: offered,
    serverInfo,
    ...(typeof instructions === "string" && { instructions }),
  };
}

/** The greeting in a discover result; undefined if it is not one for our revision. */
export function readDiscovery(result: Record<string, unknown>): Greeting | undefined {
  const { supportedVersions, capabilities, instructions, _meta: meta } = result;
  if (
    !Array.isArray(supportedVersions) ||
    !supportedVersions.includes(modernRevision) ||
    !isRecord(capabilities)
  )
    return undefined;
  const info = isRecord(meta) ? meta["io.modelcontextprotocol/serverInfo"] : undefined;
  return {
    era: "modern",
    basis: "answer",
    version: modernRevision,
    capabilities,
    ...(isRecord(info) && { serverInfo: info }),
    ...(typeof instructions === "string" && { instructions }),
  };
}

export function unsupported(server: string, revisions: readonly string[]): PlugboardError {
  const message = `"${server}" supports only ${revisions.slice(0, 5).join(", ")}, which Plugboard does not.`;
  return new PlugboardError("version-unsupported", message, {
    server,
    data: { supported: revisions.slice(0, 5) },
  });
}
