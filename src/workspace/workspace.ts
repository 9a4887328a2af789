import { dirname, join, resolve } from "node:path";
import type { Credentials } from "../auth/credentials.ts";
import { secretSource } from "../auth/vault/secrets.ts";
import type { Vault } from "../auth/vault/vault.ts";
import { checkServer } from "../config/check-server.ts";
import { findProjectRoot } from "../config/discover.ts";
import { formatPath } from "../config/documents/document.ts";
import { editFile, serverPath } from "../config/edit.ts";
import type { SecretSource } from "../config/expand.ts";
import { loadConfig as loadFrom } from "../config/load.ts";
import type { LoadOptions } from "../config/load.ts";
import type { LoadedConfig, Origin, Scope, ServerEntry } from "../config/model.ts";
import { describeOrigin, isEditable, onlyPlace, writableFile } from "../config/places.ts";
import type { WritableScope } from "../config/places.ts";
import { policyRefusal } from "../config/policy.ts";
import { fingerprint, settingsFingerprint } from "../config/trust.ts";
import type { HubOptions } from "../hub/options.ts";
import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import type { Environment, Folders } from "../lib/folders.ts";
import { platformFolders } from "../lib/folders.ts";
import type { Store } from "../store/store.ts";
import { WorkspaceState } from "./state.ts";

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
  }

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

  async load(): Promise<LoadedConfig> {
    const { cwd, env, folders } = this;
    return loadFrom({ ...this.#options, cwd, env, folders, trust: (mark) => this.#state.isTrusted(mark) });
  }

  /** Writes a server to a scope and returns its place. Adding a server also trusts it, unless `trust` is false. */
  async add(name: string, written: Record<string, unknown>, options: AddOptions): Promise<Origin> {
    const config = await this.load();
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
    return entry?.origin.file === file ? entry.origin : origin;
  }

  /** Removes a server from one scope; without `scope`, it must be in exactly one. */
  async remove(name: string, scope?: Scope): Promise<Origin> {
    const { file = "", ...origin } = onlyPlace(this.require(await this.load(), name), scope);
    await editFile(file, this.#editing(origin.scope), (value) => ({
      path: serverPath(value, name),
      remove: true,
    }));
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
    const wasTrusted =
      entry.needsTrust && (await this.#state.isTrusted(fingerprint(entry, this.projectRoot)));
    await editFile(file, this.#editing(scope), (value) => {
      const path = serverPath(value, name);
      const written = (value[String(path[0])] as Record<string, unknown>)[name] as Record<string, unknown>;
      if (typeof written["disabled"] === "boolean") return { path: [...path, "disabled"], value: !enabled };
      if (enabled && written["enabled"] !== undefined) return { path: [...path, "enabled"], remove: true };
      return enabled ? undefined : { path: [...path, "enabled"], value: false };
    });
    const after = (await this.load()).servers.get(name);
    // Trust it again only if nothing else changed: the file belongs to the project, and others write to it too.
    if (wasTrusted && after && isSameExceptEnabled(entry.written, after.written)) await this.trust(after);
    return entry.origin;
  }

  require(config: LoadedConfig, name: string): ServerEntry {
    const entry = config.servers.get(name);
    if (entry) return entry;
    throw new PlugboardError("server-unknown", `There is no server "${name}".`, {
      server: name,
      data: { known: [...config.servers.keys()] },
    });
  }

  async trust(entry: ServerEntry): Promise<void> {
    await this.#state.trust(fingerprint(entry, this.projectRoot), {
      server: entry.name,
      file: entry.origin.file,
    });
  }

  distrust(entry: ServerEntry): Promise<boolean> {
    return this.#state.distrust(fingerprint(entry, this.projectRoot));
  }

  async trustSettings(settings: Record<string, unknown>, file: string): Promise<void> {
    const mark = settingsFingerprint(settings, file, this.projectRoot);
    await this.#state.trust(mark, { settings: Object.keys(settings), file });
  }

  /** Options for a hub that uses this workspace's state and secrets: `createHub(config, await workspace.hubOptions(config))`. */
  async hubOptions({
    settings,
    settingOrigins,
  }: LoadedConfig): Promise<
    Required<Pick<HubOptions, "env" | "secrets" | "credentials" | "store" | "stateFolder">>
  > {
    const base = dirname(settingOrigins["store"]?.file ?? join(this.cwd, "."));
    const store = await this.#state.storeFor(settings.store, base);
    const { credentials } = this;
    return { env: this.env, secrets: this.secrets, credentials, stateFolder: this.folders.state, store };
  }

  close(): Promise<void> {
    return this.#state.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #assertAddable(name: string, written: Record<string, unknown>, config: LoadedConfig): void {
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
      const list = findings.map(
        ({ path, message, suggestion }) =>
          `${formatPath(path)}: ${message}${suggestion ? `; ${suggestion}` : ""}`,
      );
      throw new PlugboardError(
        "config-invalid",
        `The configuration of server "${name}" has mistakes: ${list.join(". ")}.`,
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
    const refusal = policyRefusal(config.policy, name, checked);
    if (refusal)
      throw new PlugboardError("policy-denied", `Server "${name}" is ${refusal}.`, { server: name });
  }

  async #target(scope: WritableScope): Promise<Origin> {
    const { path } = this.#options;
    if (path !== undefined) return { scope: "explicit", file: resolve(this.cwd, path) };
    return { scope, file: await writableFile(scope, this.projectRoot, this.folders) };
  }

  #editing(scope: Scope) {
    return {
      newFileMode: scope === "project" || scope === "explicit" ? 0o644 : 0o600,
      lock: <T>(key: string, work: () => Promise<T>): Promise<T> => this.#state.lock(key, work),
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
