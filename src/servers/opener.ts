import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import type { Environment } from "../lib/folders.ts";
import { expandServer } from "../config/expand.ts";
import type { SecretSource } from "../config/expand.ts";
import type { ServerEntry } from "../config/model.ts";
import { secretNamesIn } from "../config/secret-names.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { assertAllowed, policyRefusal } from "../config/policy/policy.ts";
import type { ManagedPolicy } from "../config/policy/policy.ts";
import { workingFolder } from "../config/places.ts";
import { unshownValues } from "../config/show/unshown.ts";
import type { TrustedContents } from "../config/trust/fingerprint.ts";
import { assertStillTrusted } from "../config/trust/judge.ts";
import { findScripts } from "../config/trust/scripts.ts";
import { untilAborted } from "../lib/abortable.ts";
import { matchesAny } from "../lib/glob.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import type { SessionHooks } from "./connection-settings.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import { ConfiguredHeaders, canChange } from "./configured-headers.ts";
import { rememberEra } from "./era.ts";
import { explainFailure } from "./failure-advice.ts";
import { installRepair } from "./install-repair.ts";
import { prepareLauncher, secretsAmong } from "./launcher-variables.ts";
import type { OpenOptions } from "./open-session.ts";
import type { OwnHeaders } from "./own-headers.ts";
import type { ProcessTree } from "./process/process-tree.ts";
import { Redaction } from "./redaction.ts";
import { entryFingerprint, introductionOf, serverFingerprint } from "./server-memory.ts";
import type { Remembered, ServerMemory } from "./server-memory.ts";
import type { Session } from "./session.ts";
import type { StartGates } from "./start-gate.ts";
import { StartLimit } from "./start-limit.ts";
import { targetIdentity } from "./target-identity.ts";
import type { TargetIdentity } from "./target-identity.ts";
import { toTarget } from "./target.ts";
import type { HttpTarget, ServerAuth, Target } from "./target.ts";
import type { OnTrace } from "./trace.ts";
import type { InProcessServer } from "./transports/memory.ts";
import type { WarmServers } from "./warm/warm-servers.ts";

export interface OpenerContext {
  env: Environment;
  home: string;
  secrets: SecretSource;
  /** The policy of now: a new one also holds for connections that were made before. */
  policy(): ManagedPolicy;
  /** The policy on disk, which may have changed since the configuration was loaded; undefined if there is none. */
  policyOnDisk(): Promise<ManagedPolicy> | undefined;
  /** Starts the programs; created when the first one is started. */
  processes(): Promise<ProcessTree>;
  gates: StartGates;
  /** Programs that other commands left, and that may stay for the next. */
  warm?: WarmServers | undefined;
  /** How long a server may stay for the next command; 0 for not at all. */
  keepWarmMs(entry: ServerEntry): number;
  memory: ServerMemory;
  /** True for the connection that everybody may share: what the server says there is not meant for one caller only. */
  isShared: boolean;
  capabilities(): Capabilities;
  /** The argument values that a modern HTTP server requires in the headers of a call. */
  paramHeaders?: ((server: string, params: Record<string, unknown>) => Record<string, string>) | undefined;
  authProvider?: ((server: string, target: HttpTarget) => ServerAuth | undefined) | undefined;
  /** What whoever uses the connection sends beside the configured headers, or in place of them. */
  ownHeaders?: OwnHeaders | undefined;
  /** The folder for this connection, for servers with `isolation: project`. */
  project?: string | undefined;
  projectRoot: string;
  /** What the user trusts by now; without it, what was trusted when the configuration was loaded. */
  trust?: TrustedContents | undefined;
  telemetry?: Telemetry | undefined;
  /** Observes every message of every server both ways. */
  onTrace?: OnTrace | undefined;
  /** A server in this process, by name. */
  inProcess(name: string): InProcessServer | undefined;
}

const startMs = 30_000;
const firstInstallMs = 120_000;

/** Opens one configured server: expands values, checks policy again, waits for a start slot, and keeps the deadline. */
export function createOpener(
  entry: ServerEntry,
  context: OpenerContext,
): (hooks: SessionHooks) => Promise<Session> {
  const sent = new Set<string>();
  return async (hooks) => {
    const resolved = await resolveInTime(entry, context, hooks.signal);
    const { target, sensitive, assertTrusted, warm } = resolved;
    const used = { identity: resolved.identity };
    const authProvider =
      "credentials" in target
        ? withoutSecrets(entry, () => credentialsFor(entry, target, context, used))
        : undefined;
    const redaction = new Redaction(sensitive, () => authProvider?.secrets?.() ?? [], sent);
    const credentials = { authProvider, redaction };
    const { starts, installs } = context.gates;
    const gate = (await mayInstall(entry, target, context)) ? installs : starts;
    let wasQueued = false;
    const onQueued = () => {
      wasQueued = true;
      hooks.onDetail("waiting for its turn");
    };
    const open = async () => {
      if (wasQueued) hooks.onDetail("");
      // A script may have changed while we waited.
      await assertTrusted();
      return openWithDeadline(entry, target, { ...credentials, warm, used }, context, hooks);
    };
    return gate.run(open, hooks.signal, onQueued);
  };
}

/** True for a launcher whose server has never started here. */
async function mayInstall(entry: ServerEntry, target: Target, { memory }: OpenerContext): Promise<boolean> {
  if (target.kind !== "stdio" || target.launcher === undefined) return false;
  return !(await memory.recall(serverFingerprint(entry))).hasStarted;
}

/** Messages about an entry do not repeat what is hidden where the entry is shown. */
function withoutSecrets<T>({ config = {} }: ServerEntry, work: () => T): T {
  const clean = (error: unknown) => new Redaction(unshownValues(config)).error(error);
  try {
    const result = work();
    return result instanceof Promise
      ? (result.catch((error: unknown) => Promise.reject(clean(error) as Error)) as T)
      : result;
  } catch (error) {
    throw clean(error);
  }
}

function credentialsFor(
  entry: ServerEntry,
  target: HttpTarget,
  context: OpenerContext,
  used: OpenOptions["used"],
): ServerAuth | undefined {
  if (target.credentials.kind !== "none" || !canChange(entry.config ?? {}))
    return context.authProvider?.(entry.name, target);
  const read = async () => {
    const { target: again, identity } = await resolveInTime(entry, context);
    // What is sent from now on may be somebody else's.
    used.identity = identity;
    return "headers" in again ? again.headers : {};
  };
  return new ConfiguredHeaders(target.headers, read, Date.now);
}

type Values = Pick<
  OpenerContext,
  | "env"
  | "home"
  | "secrets"
  | "policy"
  | "policyOnDisk"
  | "inProcess"
  | "project"
  | "projectRoot"
  | "trust"
  | "ownHeaders"
> &
  Partial<Pick<OpenerContext, "warm" | "keepWarmMs" | "capabilities">>;

interface Resolved {
  target: Target;
  identity: TargetIdentity;
  sensitive: readonly string[];
  /** Fails if the entry, or a script that it runs, is no longer trusted. */
  assertTrusted(): Promise<void>;
  /** Asks for a program that may stay; absent if nothing of this server may. */
  warm?: OpenOptions["warm"];
}

/** Resolves a server's target. Expanding its values may take as long as starting it. */
export async function resolveInTime(
  entry: ServerEntry,
  context: Values,
  outer?: AbortSignal,
): Promise<Resolved> {
  const limitMs = entry.config?.startupTimeoutMs ?? startMs;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(valuesTooSlow(entry.name, limitMs)), limitMs);
  const signal = AbortSignal.any([deadline.signal, ...(outer ? [outer] : [])]);
  const resolved = withoutSecrets(entry, () => resolveTarget(entry, { ...context, signal }));
  return untilAborted(resolved, signal).finally(() => clearTimeout(timer));
}

async function resolveTarget(
  entry: ServerEntry,
  context: Values & { signal: AbortSignal },
): Promise<Resolved> {
  const { name } = entry;
  const server = context.inProcess(name);
  const { project, env } = context;
  const onDisk = await context.policyOnDisk();
  // Both count: a new rule need not wait until somebody loads the configuration again.
  const policies = () => [context.policy(), ...(onDisk ? [onDisk] : [])];
  // What is forbidden as it is written fails before any command runs to produce a value.
  for (const policy of policies()) assertAllowed(policy, { entry, env, isInProcess: server !== undefined });
  if (server) {
    const target: Target = { kind: "memory", name, server };
    const identity = targetIdentity(target, env, []);
    return { target, identity, sensitive: [], assertTrusted: async () => undefined };
  }
  const known = project === undefined ? entry : withProject(entry, project);
  const folder = project ?? workingFolder(entry);
  const judge = (expanded: ServerConfig) => {
    for (const policy of policies())
      assertAllowed(policy, { entry, expanded, env, folder: expanded.cwd ?? folder });
  };
  await assertStillTrusted(known, context);
  const { config, sensitive } = await expandServer(known, context, judge);
  // Looking up the other values takes time, and the policy may be another one by now.
  judge(config);
  const target = toTarget(name, config, folder, env);
  context.ownHeaders?.addTo(target);
  if (target.kind === "stdio") await prepareLauncher(target, context);
  if ("url" in target)
    target.refuses = ({ href: url }) => {
      const refusals = policies().map((policy) =>
        policyRefusal(policy, { entry, expanded: { ...config, url }, env }),
      );
      return refusals.find((refusal) => refusal !== undefined);
    };
  const assertTrusted = () => assertStillTrusted({ ...known, config }, context);
  if ("credentials" in target && target.credentials.kind === "helper")
    target.credentials.assertTrusted = assertTrusted;
  const secret = [...sensitive, ...credentialsIn(target, env), ...unshownValues(config)];
  return {
    target,
    identity: targetIdentity(target, env, secret),
    sensitive: secret,
    assertTrusted,
    warm: warmStart({ ...known, config }, context),
  };
}

/** A server for which every call starts a program must not get one that was used before. */
function warmStart(entry: ServerEntry, context: Values): OpenOptions["warm"] {
  const { warm, keepWarmMs } = context;
  const keepMs = keepWarmMs?.(entry) ?? 0;
  const { isolation, protocol } = entry.config ?? {};
  if (!warm || keepMs === 0 || isolation === "call") return undefined;
  return async (program, limitMs) => {
    // Where nothing is trusted by its content, files on the command line may be data that the server changes.
    const { files, problem } = entry.needsTrust ? await findScripts(entry, context) : { files: [] };
    if (problem !== undefined) return undefined;
    const likeness = { files, protocol, capabilities: context.capabilities?.() };
    const secrets = secretNamesIn(entry.written).toSorted();
    return warm.start({ program, keepMs, limitMs, secrets, likeness });
  };
}

/** Sets `${PROJECT_ROOT}` to the folder for this connection. */
function withProject(entry: ServerEntry, project: string): ServerEntry {
  return { ...entry, variables: { ...entry.variables, PROJECT_ROOT: project } };
}

async function openWithDeadline(
  entry: ServerEntry,
  target: Target,
  { authProvider, redaction, warm, used }: Pick<OpenOptions, "authProvider" | "redaction" | "warm" | "used">,
  context: OpenerContext,
  hooks: SessionHooks,
): Promise<Session> {
  const { name, config } = entry;
  const fingerprint = serverFingerprint(target.kind === "memory" ? { ...entry, written: undefined } : entry);
  const known = await context.memory.recall(fingerprint);
  const isInstalling = target.kind === "stdio" && target.launcher !== undefined && !known.hasStarted;
  const limitMs = config?.startupTimeoutMs ?? (isInstalling ? firstInstallMs : startMs);
  const isLauncher = target.kind === "stdio" && target.launcher !== undefined;
  const onDetail = (detail: string) => hooks.onDetail(detail);
  using limit = new StartLimit({ server: name, limitMs, isLauncher, isFirst: isInstalling, onDetail });
  if (isInstalling) hooks.onDetail("installing");
  const repair = await installRepair(target, context);
  try {
    const { openSession } = await import("./open-session.ts");
    const session = await openSession({
      server: name,
      target,
      used,
      protocol: config?.protocol,
      memory: known.era,
      capabilities: context.capabilities(),
      paramHeaders: (params) => context.paramHeaders?.(name, params) ?? {},
      otherwise: {
        get answeredBy() {
          return hooks.listener?.answeredBy;
        },
        caller: hooks.listener?.caller,
        owner: hooks.listener?.owner,
        budget: hooks.listener?.budget,
        onQuestion: hooks.listener?.onQuestion,
        onNotification: (method, params, heard) => {
          const isShown = method === "notifications/message";
          hooks.onNotification(method, isShown ? redaction.value(params) : params, heard);
        },
      },
      onUntold: () => hooks.onUntold(),
      processes: () => context.processes(),
      warm,
      env: context.env,
      authProvider,
      limitMs,
      limit,
      beforeStart: repair,
      signal: AbortSignal.any([hooks.signal, limit.signal]),
      redaction,
      telemetry: context.telemetry,
      onTrace: context.onTrace,
      onSkipped: (line) => hooks.onSkipped(line),
      onStderr: (line) => {
        if (isInstalling && !limit.isInstalling) hooks.onDetail(`installing: ${line.slice(0, 200)}`);
        hooks.onStderr(line);
      },
      onMissed: () => hooks.onMissed(),
      onDoubted: () => hooks.onDoubted(),
      onLost: (error) => hooks.onLost(error),
    });
    const said = context.isShared ? introductionOf(session.greeting, entryFingerprint(entry)) : {};
    await learn(fingerprint, known, said, session, context.memory);
    return session;
  } catch (error) {
    await repair?.();
    const { env, home } = context;
    throw redaction.error(await explainFailure(error, { target, config, env, home }));
  }
}

async function learn(
  fingerprint: string,
  known: Remembered,
  said: Pick<Remembered, "introduction">,
  session: Session,
  memory: ServerMemory,
): Promise<void> {
  const { basis, era: used, remembered: era = used } = session.greeting;
  // Keep a confirmed era as it is, and count a timeout only if the probe really waited again.
  const isConfirmed = known.era?.era === era && known.era.basis !== "silence";
  const next: Remembered = {
    ...known,
    ...said,
    hasStarted: true,
    era: isConfirmed && known.era ? known.era : rememberEra(known.era, { era, basis }),
  };
  if (canonicalJson(next) !== canonicalJson(known)) await memory.remember(fingerprint, next);
}

/** Treats all headers as credentials, and variables whose names or values suggest it. */
function credentialsIn(target: Target, env: Environment): string[] {
  if ("headers" in target) return Object.values(target.headers);
  if (target.kind !== "stdio") return [];
  const { env: own = {}, inheritEnv = [] } = target.program;
  const inherited = Object.keys(env).filter((name) => matchesAny(inheritEnv, name));
  return [...secretsAmong(Object.keys(own), own), ...secretsAmong(inherited, env)];
}

function valuesTooSlow(server: string, limitMs: number): PlugboardError {
  const message = `The values in the configuration of "${server}" could not be resolved within ${limitMs / 1000} s.`;
  return new PlugboardError("start-timeout", message, { server, data: { limitMs } });
}
