import { dirname, join, resolve } from "node:path";
import type { Credentials } from "../auth/credentials.ts";
import { secretSource } from "../auth/vault/secrets.ts";
import type { Vault } from "../auth/vault/vault.ts";
import { checkServer } from "../config/check-server.ts";
import { candidateFiles, findProjectRoot } from "../config/discover.ts";
import { formatPath } from "../config/documents/document.ts";
import { editFile, serverPath } from "../config/edit.ts";
import type { SecretSource } from "../config/expand.ts";
import type { Format, Machine } from "../config/formats/format.ts";
import { maxForeignBytes } from "../config/import.ts";
import { chainFor } from "../config/loops.ts";
import { fromLiteral } from "../config/literal.ts";
import { loadConfig as loadFrom } from "../config/load.ts";
import type { LoadOptions } from "../config/load.ts";
import type { BundleConfig } from "../config/schema.ts";
import type { LoadedConfig, Origin, Scope, ServerEntry } from "../config/model.ts";
import { secretFromFiles } from "../config/secret-files.ts";
import { namedFile } from "../config/sources.ts";
import { judgeSecrets } from "../config/usability.ts";
import { describeOrigin, isEditable, onlyPlace, writableFile } from "../config/places.ts";
import type { WritableScope } from "../config/places.ts";
import { assertAllowed, loadPolicy } from "../config/policy/policy.ts";
import { assertInProject } from "../config/sync/client-file.ts";
import { compareClient, compareClients, serversOf } from "../config/sync/client.ts";
import type { ClientComparison, CompareOptions } from "../config/sync/client.ts";
import type { ClientName } from "../config/sync/client-names.ts";
import type { Scripts } from "../config/trust/scripts.ts";
import type { HubOptions } from "../hub/options.ts";
import { PlugboardError } from "../errors.ts";
import { unknownServer } from "../lib/unknown-server.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import { asSentence } from "../lib/sentence.ts";
import type { Environment, Folders } from "../lib/folders.ts";
import type { Held } from "../lib/held.ts";
import { platformFolders } from "../lib/folders.ts";
import type { Store } from "../store/store.ts";
import { answerKey, approvalKey, sealKey } from "./approval-key.ts";
import { ClientWiring } from "./client-wiring.ts";
import { clientNames, forgetClientNames, keepClientNames } from "./client-names.ts";
import type { ApprovalKey } from "./approval-key.ts";
import { gatewayToken } from "./gateway-token.ts";
import type { GatewayToken, GatewayTokenOptions } from "./gateway-token.ts";
import { KnownFailures } from "./known-failures.ts";
import { ServerLogs } from "./logs/server-logs.ts";
import { ProjectTrust } from "./project-trust.ts";
import { WorkspaceState } from "./state.ts";
import { KeptWarm } from "./warm.ts";
import { StoredCredentials } from "./stored-credentials.ts";
import { strayPins, writePins } from "./write-pins.ts";
import type { PinApproval } from "./write-pins.ts";

/** Which configuration is loaded. Everything is optional: by default that of the current folder and this user. */
export interface WorkspaceOptions extends Omit<LoadOptions, "trust"> {
  /** Receives warnings, for example that state cannot be saved. */
  onWarning?: ((message: string) => void) | undefined;
}

export interface AddOptions {
  scope: WritableScope;
  /** Replace a server of that name. */
  force?: boolean;
  /** Also trust the server. True by default; set false if the content comes from the project itself. */
  trust?: boolean;
}

/**
 * One user's view of Plugboard from one folder: loads and edits its configuration and remembers what the user has
 * trusted. The state on disk is opened only when it is needed.
 */
export class Workspace {
  readonly cwd: string;
  readonly env: Environment;
  readonly projectRoot: string;
  readonly folders: Folders;
  /** `${secret:NAME}`: the vault, then the variable NAME. */
  readonly secrets: SecretSource;
  /** What this user has trusted in this project. */
  readonly decisions: ProjectTrust;
  /** The secrets and logins in the vault, and who uses them. */
  readonly stored: StoredCredentials;
  /** What this user's servers said in their last runs. */
  readonly logs: ServerLogs;
  /** Why this user's servers failed the last time. */
  readonly failures: KnownFailures;
  /** The servers that commands left for the next one. */
  readonly warm: KeptWarm;
  /** Our entries in other clients' files. */
  readonly wiring: ClientWiring;
  readonly #options: WorkspaceOptions;
  readonly #state: WorkspaceState;

  private constructor(options: WorkspaceOptions, cwd: string, projectRoot: string) {
    this.#options = options;
    this.cwd = cwd;
    this.env = options.env ?? process.env;
    this.projectRoot = projectRoot;
    this.folders = options.folders ?? platformFolders(this.env, projectRoot);
    this.secrets = secretSource(() => this.vault(), this.env);
    const { onWarning } = options;
    this.#state = new WorkspaceState({ file: this.stateFile, home: this.folders.home, onWarning });
    const { env, folders } = this;
    this.logs = new ServerLogs(join(folders.state, "logs"));
    this.decisions = new ProjectTrust({ state: this.#state, projectRoot, env, home: folders.home });
    this.failures = new KnownFailures({
      stateFile: this.stateFile,
      store: () => this.store(),
      storeOf: (config) => this.#storeOf(config),
    });
    this.warm = new KeptWarm(folders.state, (key, work) => this.#state.lock(key, work), onWarning);
    this.wiring = new ClientWiring({
      state: this.#state,
      machine: this.machine,
      load: () => this.load({ allowMissing: true }),
      editing: (scope) => this.#editing(scope),
    });
    this.stored = new StoredCredentials({
      env,
      stateFile: this.stateFile,
      credentials: this.credentials,
      decisions: this.decisions,
      vault: () => this.vault(),
      store: () => this.store(),
      load: () => this.load({ allowMissing: true }),
      usualFiles: () => candidateFiles(cwd, projectRoot, folders).map(({ file }) => file),
      target: (scope) => this.#target(scope),
      editing: (scope) => this.#editing(scope),
    });
  }

  /** Finds the project and its folders. Reads no configuration yet. */
  static async open(options: WorkspaceOptions = {}): Promise<Workspace> {
    const cwd = resolve(options.cwd ?? process.cwd());
    return new Workspace(options, cwd, findProjectRoot(cwd));
  }

  get stateFile(): string {
    return join(this.folders.state, "state.sqlite");
  }

  /** The durable state; kept in memory if it cannot be written. */
  store(): Promise<Store> {
    return this.#state.store();
  }

  /** The encrypted storage for secrets and logins. */
  vault(): Promise<Vault> {
    return this.#state.vault(this.env);
  }

  /** The login storage for a hub, shared by all of this user's processes. */
  get credentials(): Credentials {
    return { vault: () => this.vault(), lock: (name, work) => this.#state.lock(name, work) };
  }

  /**
   * With `allowMissing`, a named file that does not exist counts as empty: `add` creates it. With `secrets`, a server
   * whose `${secret:…}` is not set is `missing-value`; without it, that is only known when the server is used.
   */
  async load({
    allowMissing,
    secrets,
  }: { allowMissing?: boolean; secrets?: boolean } = {}): Promise<LoadedConfig> {
    const { cwd, env, folders } = this;
    const trust = (mark: string) => this.decisions.contents(mark);
    const loading = { ...this.#options, cwd, env, folders, trust, ...(allowMissing && { allowMissing }) };
    const config = await this.decisions.withChanges(await loadFrom(loading));
    if (!secrets) return config;
    const lookUp = async (name: string) =>
      (await this.secrets(name)) ?? (await secretFromFiles(config.settings, name));
    const judged = await judgeSecrets([...config.servers.values()], { env, secrets: lookUp });
    return { ...config, servers: new Map(judged.map((entry) => [entry.name, entry])) };
  }

  /**
   * A configuration with one server that somebody named just now, which is as good as trusting it. The machine's policy
   * holds for it; nothing else that is configured does.
   */
  async oneOff(name: string, written: Record<string, unknown>): Promise<LoadedConfig> {
    const policy = await loadPolicy(this.folders.managed);
    this.#assertAddable(name, written, { servers: new Map(), policy });
    return fromLiteral({ servers: { [name]: written } }, this.env, policy, this.cwd).loaded;
  }

  /** The token of this user's gateway: PLUGBOARD_TOKEN, or the stored one, which is made when it is first needed. */
  gatewayToken(options: { renew?: boolean | undefined } = {}): Promise<GatewayToken> {
    return gatewayToken({ ...options, env: this.env, ...this.#gatewayFile("token") });
  }

  /** The key of those who approve calls over HTTP: PLUGBOARD_APPROVAL_KEY, or a stored one. Clients must not have it. */
  approvalKey(options: { token?: string | undefined } = {}): Promise<ApprovalKey> {
    return approvalKey({ ...options, env: this.env, ...this.#gatewayFile("approval-key") });
  }

  /** The key of what clients carry for this user's gateway, so that it is still good after a restart. */
  sealKey(): Promise<Buffer> {
    return sealKey(this.#gatewayFile("seal-key"));
  }

  #gatewayFile(name: string) {
    const lock: GatewayTokenOptions["lock"] = (key, work) => this.#state.lock(key, work);
    return { file: join(this.folders.state, "gateway", name), lock };
  }

  /** Writes a server to a scope and returns its place. Adding a server also trusts it, unless `trust` is false. */
  async add(name: string, written: Record<string, unknown>, options: AddOptions): Promise<Origin> {
    const config = await this.load({ allowMissing: true });
    this.#assertAddable(name, written, config);
    const origin = await this.#target(options.scope);
    const { file = "" } = origin;
    await editFile(file, this.#editing(options.scope), (value) => {
      const path = serverPath(value, name);
      const container = value[String(path[0])] as Record<string, unknown> | undefined;
      if (container && Object.hasOwn(container, name) && !options.force) {
        throw new PlugboardError("server-exists", `Server "${name}" is already in ${file}.`, {
          server: name,
        });
      }
      return { path, value: written };
    });
    const entry = (await this.load()).servers.get(name);
    if (entry?.needsTrust && entry.origin.file === file && options.trust !== false) await this.trust(entry);
    const places = entry ? [entry.origin, ...entry.shadowed.map((other) => other.origin)] : [];
    return places.find((place) => place.file === file) ?? origin;
  }

  /**
   * Writes a bundle to a scope. In a project's file it is a setting of the project, and adding it also trusts the
   * file's settings if they were trusted before or there were none, unless `trust` is false.
   */
  async addBundle(name: string, bundle: BundleConfig, options: AddOptions): Promise<Origin> {
    const before = await this.load({ allowMissing: true });
    const origin = await this.#target(options.scope);
    const { file = "" } = origin;
    const waits = (config: LoadedConfig) => config.sources.find((source) => source.file === file);
    await editFile(file, this.#editing(options.scope), (value) => {
      const { bundles } = value;
      if (isRecord(bundles) && Object.hasOwn(bundles, name) && !options.force) {
        throw new PlugboardError("usage-invalid", `Bundle "${name}" is already in ${file}.`, {
          hint: "Remove it from the file first, or choose another name.",
        });
      }
      return { path: ["bundles", name], value: bundle };
    });
    const settings = waits(await this.load())?.untrustedSettings;
    const mayTrust = options.trust !== false && waits(before)?.untrustedSettings === undefined;
    if (settings && mayTrust) await this.decisions.trustSettings(settings, file);
    return origin;
  }

  /** Where other clients' files are found. */
  get machine(): Machine {
    const { env, projectRoot, folders } = this;
    return { home: folders.home, platform: process.platform, env, projectRoot };
  }

  /** Compares our servers with every file of these clients, or of all clients, that exists. */
  async compareClients(options: CompareOptions = {}): Promise<ClientComparison[]> {
    return compareClients(options, this.machine, await this.load(), await this.clientNames());
  }

  /**
   * Compares our servers with those in a client's file. Without `names`, the enabled ones of that scope; a project's
   * servers are not compared with the user's file.
   */
  async compareClient(
    format: Format,
    scope: "user" | "project",
    names?: readonly string[],
  ): Promise<ClientComparison> {
    const config = await this.load();
    const servers = names?.map((name) => this.require(config, name)) ?? serversOf(config, scope);
    return compareClient(format, scope, this.machine, { servers, config, names: await this.clientNames() });
  }

  /** Writes what a comparison found into the client's file. Refuses if the file changed since then. */
  async updateClient({ format, file, scope, compared, compare }: ClientComparison): Promise<void> {
    const client = format.id;
    if (scope === "project") assertInProject(file, this.projectRoot);
    const editing = { ...this.#editing(scope), maxBytes: maxForeignBytes, containers: [] };
    await editFile(file, editing, (value) => {
      const { changes } = compare(value);
      if (canonicalJson(changes) === canonicalJson(compared.changes)) return changes;
      throw new PlugboardError("config-unreadable", `${file} changed in the meantime; nothing was written.`, {
        data: { file },
        hint: `Run the command again. If ${format.title} is running, it may write this file too.`,
      });
    });
    const agreed = compared.servers.filter(({ state }) => state !== "other" && state !== "left");
    await this.keepClientNames(
      agreed.map(({ name, nameThere = name }) => ({ client, file, theirs: nameThere, ours: name })),
    );
  }

  /** What other clients' files call our servers: what an import renamed has another name there. */
  async clientNames(): Promise<ClientName[]> {
    return this.#state.kept([], clientNames);
  }

  /** Remembers which servers of other clients are ours, so that `sync` never takes one for another. */
  async keepClientNames(names: readonly ClientName[]): Promise<void> {
    if (names.length > 0) await keepClientNames(await this.store(), names);
  }

  /** Removes a server from one scope; without `scope`, it must be in exactly one. */
  async remove(name: string, scope?: Scope): Promise<Origin> {
    const { file = "", ...origin } = onlyPlace(this.require(await this.load(), name), scope);
    await editFile(file, this.#editing(origin.scope), (value) => ({
      path: serverPath(value, name),
      remove: true,
    }));
    await this.warm.forget({ servers: [name] });
    const isGone = !(await this.load()).servers.has(name);
    if (isGone) await this.#state.kept(undefined, (store) => forgetClientNames(store, name));
    return { file, ...origin };
  }

  /** Enables or disables a server in the file where it is configured. */
  async setEnabled(name: string, enabled: boolean): Promise<Origin> {
    const entry = this.require(await this.load(), name);
    const { file, scope } = entry.origin;
    if (file === undefined || !isEditable(entry.origin)) {
      throw new PlugboardError(
        "usage-invalid",
        `Server "${name}" comes from ${describeOrigin(entry.origin)}, which Plugboard does not edit.`,
        {
          server: name,
          hint: "Add an entry of the same name in the local or user scope to override it.",
        },
      );
    }
    const trusted = await this.decisions.carryOver(entry);
    await editFile(file, this.#editing(scope), (value) => {
      const path = serverPath(value, name);
      const written = (value[String(path[0])] as Record<string, unknown>)[name] as Record<string, unknown>;
      if (typeof written["disabled"] === "boolean") return { path: [...path, "disabled"], value: !enabled };
      if (enabled && written["enabled"] !== undefined) return { path: [...path, "enabled"], remove: true };
      return enabled ? undefined : { path: [...path, "enabled"], value: false };
    });
    const after = (await this.load()).servers.get(name);
    // Trust it again only if nothing else changed: the file belongs to the project, and others write to it too.
    if (after && isSameExceptEnabled(entry.written, after.written)) await trusted?.keep(after);
    if (!enabled) await this.warm.forget({ servers: [name] });
    return entry.origin;
  }

  /** Finds a server. Throws `server-unknown`, with a similar name in the hint. */
  require(config: LoadedConfig, name: string): ServerEntry {
    const entry = config.servers.get(name);
    if (entry) return entry;
    throw unknownServer(name, config.servers.keys());
  }

  /** Trusts the entry and its scripts. Pass what `decisions.review` returned, so that exactly the shown content is trusted. */
  trust(entry: ServerEntry, reviewed?: Scripts): Promise<void> {
    return this.decisions.trust(entry, reviewed);
  }

  /** Revokes every content of a server's name in this project, also earlier ones. False if there was none. */
  distrust(entry: Pick<ServerEntry, "name">): Promise<boolean> {
    return this.decisions.distrust(entry);
  }

  /** Writes what was approved into the lock files. Refuses if one of them changed since `config` was loaded. */
  async writePins(config: LoadedConfig, approvals: readonly PinApproval[]): Promise<string[]> {
    const { projectRoot } = this;
    return writePins(config, approvals, { projectRoot, editing: (scope) => this.#editing(scope) });
  }

  /** What a project's lock files pin although no file beside them configures it. */
  async strayPins(config: LoadedConfig): Promise<{ server: string; file: string }[]> {
    return strayPins(config, this.folders);
  }

  /** Options for a hub that uses this workspace's state and secrets: `createHub(config, await workspace.hubOptions(config))`. */
  async hubOptions(
    config: LoadedConfig,
  ): Promise<
    Required<
      Pick<
        HubOptions,
        | "env"
        | "secrets"
        | "trust"
        | "credentials"
        | "store"
        | "approvals"
        | "approvalsKey"
        | "stateFolder"
        | "chain"
        | "folders"
      >
    >
  > {
    const store = await this.#storeOf(config);
    const { env, secrets, credentials, folders } = this;
    const trust = (mark: string) => this.decisions.contents(mark);
    const chain = chainFor(config, env);
    // Like trust: a project that names a store must not bring answers of its own.
    const approvals = () => this.#state.durable();
    const stateFolder = folders.state;
    const approvalsKey = () => answerKey(this.#gatewayFile("answer-key"));
    const places = { stateFolder, store, approvals, approvalsKey };
    return { env, secrets, trust, credentials, ...places, chain, folders };
  }

  #storeOf({ settings, settingOrigins }: LoadedConfig): Promise<Store> {
    const base = dirname(settingOrigins["store"]?.file ?? join(this.cwd, "."));
    return this.#state.storeFor(settings.store, base);
  }

  /** Closes what was opened of the state on disk. */
  close(): Promise<void> {
    return this.#state.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #assertAddable(
    name: string,
    written: Record<string, unknown>,
    config: Pick<LoadedConfig, "servers" | "policy">,
  ): void {
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) {
      throw new PlugboardError(
        "usage-invalid",
        "A server's name must start with a letter or digit, contain only letters, digits, `-`, `_` and `.`, and have at most 64 characters.",
      );
    }
    const twin = [...config.servers.keys()].find(
      (other) => other !== name && other.toLowerCase() === name.toLowerCase(),
    );
    if (twin !== undefined) {
      throw new PlugboardError(
        "server-exists",
        `"${name}" differs from the server "${twin}" only in upper and lower case.`,
        { server: name },
      );
    }
    const { config: checked, findings } = checkServer(written, ["mcpServers", name]);
    if (!checked) {
      const list = findings.map(({ path, message, suggestion }) =>
        asSentence(`${formatPath(path)}: ${message}${suggestion ? `; ${suggestion}` : ""}`),
      );
      throw new PlugboardError(
        "config-invalid",
        `The configuration of server "${name}" has mistakes: ${list.join(" ")}`,
        {
          server: name,
          data: { findings },
          hint: "Correct the command and try again.",
        },
      );
    }
    const { exclusive, file } = config.policy;
    if (exclusive) {
      throw new PlugboardError(
        "policy-denied",
        `Servers cannot be added here: only those in ${file} are allowed.`,
        { server: name },
      );
    }
    const entry = { name, written, config: checked, baseDir: this.cwd, origin: { scope: "local" as const } };
    assertAllowed(config.policy, { entry, env: this.env });
  }

  async #target(scope: WritableScope): Promise<Origin> {
    const named = namedFile({ path: this.#options.path, env: this.env, cwd: this.cwd });
    if (named !== undefined) return { scope: "explicit", file: named };
    return { scope, file: await writableFile(scope, this.projectRoot, this.folders) };
  }

  #editing(scope: Scope) {
    return {
      newFileMode: scope === "project" ? 0o644 : 0o600,
      lock: <T>(key: string, work: (held: Held) => Promise<T>): Promise<T> => this.#state.lock(key, work),
    };
  }
}

function isSameExceptEnabled(before: unknown, after: unknown): boolean {
  const rest = (written: unknown) => {
    const { enabled: _enabled, disabled: _disabled, ...others } = (written ?? {}) as Record<string, unknown>;
    return canonicalJson(others);
  };
  return rest(before) === rest(after);
}

/**
 * Loads the configuration for a folder, with this user's trust applied. Starts no server and expands no reference. A
 * hub created from it shares the command line's vault, logins, snapshots and records.
 */
export async function loadConfig(options: WorkspaceOptions = {}): Promise<LoadedConfig> {
  await using workspace = await Workspace.open(options);
  return { ...(await workspace.load()), home: { open: () => Workspace.open(options) } };
}
