import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Credentials } from "../auth/credentials.ts";
import type { LogoutResult } from "../auth/oauth/logout.ts";
import type { StoredLogin } from "../auth/oauth/stored-logins.ts";
import type { Vault } from "../auth/vault/vault.ts";
import { valueAt } from "../config/documents/document.ts";
import { editFile, serverPath } from "../config/edit.ts";
import type { Lock } from "../config/edit.ts";
import { withReplacements } from "../config/literal-secrets.ts";
import type { LoadedConfig, Origin, Scope, ServerEntry } from "../config/model.ts";
import { onlyPlace } from "../config/places.ts";
import type { WritableScope } from "../config/places.ts";
import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import type { Environment } from "../lib/folders.ts";
import { isRecord } from "../lib/record.ts";
import type { Store } from "../store/store.ts";
import { keptCredentials, secretUses } from "./kept-credentials.ts";
import type { CredentialUse, KeptCredentials } from "./kept-credentials.ts";
import { knownEntries } from "./known-entries.ts";
import type { KnownEntry } from "./known-entries.ts";
import type { MovedSecret } from "./move-secrets.ts";
import type { ProjectTrust } from "./project-trust.ts";

export interface StoredCredentialsOptions {
  env: Environment;
  stateFile: string;
  credentials: Credentials;
  decisions: ProjectTrust;
  vault(): Promise<Vault>;
  store(): Promise<Store>;
  load(): Promise<LoadedConfig>;
  /** The files that are read here if none is named. */
  usualFiles(): string[];
  /** The file that a scope's servers are written to. */
  target(scope: WritableScope): Promise<Origin>;
  editing(scope: Scope): { newFileMode: number; lock: Lock };
}

/** The secrets and logins of this user, and the servers that use them. */
export class StoredCredentials {
  readonly #options: StoredCredentialsOptions;

  constructor(options: StoredCredentialsOptions) {
    this.#options = options;
  }

  /** What the vault stores, and which servers use it, as far as Plugboard knows their configuration. */
  async list(): Promise<KeptCredentials> {
    return keptCredentials(await this.#options.vault(), await this.#knownEntries(), Date.now());
  }

  /** Ends a stored login whose server may be gone: deletes it, and revokes it if possible. */
  async endLogin(login: StoredLogin & { usedBy?: CredentialUse[] }): Promise<LogoutResult> {
    const { credentials, env } = this.#options;
    const { key, url, server = url, usedBy } = login;
    const [{ logOut }, { forgetIssuer }, { withAuthFetch }] = await Promise.all([
      import("../auth/oauth/logout.ts"),
      import("../auth/oauth/known-issuer.ts"),
      import("../servers/auth-fetch.ts"),
    ]);
    const oauth = { issuer: key.onlyIssuer };
    const target = {
      url: new URL(url),
      headers: {},
      network: {},
      credentials: { kind: "login", oauth } as const,
    };
    const result = await logOut({
      server,
      key,
      oauth,
      credentials,
      withFetch: (work) => withAuthFetch(server, target, env, work),
      now: Date.now,
    });
    // A server that is still configured keeps its authorization server.
    if (usedBy?.length === 0) await forgetIssuer({ key, credentials });
    return result;
  }

  /** A name for a secret of this entry that no other entry uses. */
  async freeName(wanted: string, server: string, scope: WritableScope): Promise<string> {
    const { freeSecretName } = await import("./move-secrets.ts");
    const { file = "" } = await this.#options.target(scope);
    const uses = secretUses(await this.#knownEntries());
    return freeSecretName(wanted, { server, file, vault: await this.#options.vault(), uses });
  }

  /**
   * Moves the secrets that an entry has in plain text to the vault and writes references instead. An entry that was
   * trusted stays so. Returns nothing moved if there are none.
   */
  async moveSecrets(entry: ServerEntry, scope?: Scope): Promise<{ origin: Origin; moved: MovedSecret[] }> {
    const { decisions, load, vault, editing } = this.#options;
    const { name: server } = entry;
    const origin = onlyPlace(entry, scope);
    const { file = "" } = origin;
    const written = [entry, ...entry.shadowed].find((one) => one.origin.file === file)?.written;
    const trusted = await decisions.carryOver(entry);
    const { storeLiteralSecrets } = await import("./move-secrets.ts");
    const uses = secretUses(await this.#knownEntries());
    const { moved, changes } = await storeLiteralSecrets({
      server,
      file,
      written,
      vault: await vault(),
      uses,
    });
    for (const { path, value: reference } of changes) {
      await editFile(file, editing(origin.scope), (value) => {
        const whole = [...serverPath(value, server), ...path];
        assertUnchanged(server, valueAt(value, whole), valueAt(written, path));
        return { path: whole, value: reference };
      });
    }
    const after = (await load()).servers.get(server);
    const expected = canonicalJson(withReplacements(entry.written, changes));
    if (after && canonicalJson(after.written) === expected) await trusted?.keep(after);
    return { origin, moved };
  }

  async #knownEntries(): Promise<KnownEntry[]> {
    const { stateFile, store, load, usualFiles } = this.#options;
    const decisions = existsSync(stateFile) ? await (await store()).list("trust/") : [];
    const trusted = decisions.flatMap(({ value }) =>
      isRecord(value) && typeof value["file"] === "string" ? [value["file"]] : [],
    );
    return knownEntries(await load(), dirname(stateFile), [...usualFiles(), ...trusted]);
  }
}

/** The file belongs to the project, and others write to it too. */
function assertUnchanged(server: string, now: unknown, before: unknown): void {
  if (canonicalJson(now) === canonicalJson(before)) return;
  const message = `The entry of "${server}" was changed by somebody else meanwhile.`;
  throw new PlugboardError("config-unreadable", message, { server, hint: "Try again." });
}
