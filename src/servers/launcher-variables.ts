import type { Environment } from "../lib/folders.ts";
import { npmrcSets } from "../lib/npmrc.ts";
import type { Ecosystem } from "../lib/package-launcher.ts";
import { looksSecret } from "../lib/secret-words.ts";
import { loginsIn } from "../lib/url-logins.ts";
import type { StdioTarget } from "./target.ts";

/** How programs reach the network here: through which proxy, and which authorities they trust. */
const network =
  /^(?:(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|NODE_(?:EXTRA_CA_CERTS|USE_SYSTEM_CA|USE_ENV_PROXY))$/i;

/** The settings of each family of launchers. npm reads its own in upper and lower case. */
const settings: Record<Ecosystem, RegExp | undefined> = {
  npm: /^(?:npm_config_|pnpm_config_|yarn_|corepack_|bun_(?:config|install)_)/i,
  python: /^(?:(?:UV|PIP|PIPX)_|(?:REQUESTS_CA|CURL_CA)_BUNDLE$)/,
  deno: /^(?:DENO_|npm_config_registry$)/i,
  container: undefined,
};

/** npm describes the command that it runs in the same form. These are no settings, or they choose what else runs. */
const ofRunningCommand =
  /^npm_config_(?:call|package|yes|global|location|workspaces?|include_workspace_root|(?:local|global)_prefix|npm_version|node_gyp|init_module|user_agent|node_options|script_shell|shell|loglevel|json|dry_run)$/i;

/** Lets a package launcher reach its registry the way it does in the user's own shell. */
export async function prepareLauncher(
  { program, launcher }: StdioTarget,
  { env, home }: { env: Environment; home: string },
): Promise<void> {
  if (!launcher) return;
  const { env: own = {}, cwd: folder = home } = program;
  const passed = settingsIn(launcher.ecosystem, env).filter((name) => !isCredential(name));
  program.inheritEnv = [...(program.inheritEnv ?? []), ...passed];
  if (launcher.ecosystem !== "npm") return;
  program.env = { ...(await quickRetries({ ...env, ...own }, { folder, home })), ...own };
}

/** Credentials for registries that are set here, which a launcher gets only if `inheritEnv` names them. */
export function registryCredentials(ecosystem: Ecosystem, env: Environment): string[] {
  const common = ecosystem === "npm" ? ["NPM_TOKEN", "NODE_AUTH_TOKEN"].filter((name) => env[name]) : [];
  return [...common, ...settingsIn(ecosystem, env).filter(isCredential)];
}

function settingsIn(ecosystem: Ecosystem, env: Environment): string[] {
  const own = settings[ecosystem];
  if (!own) return [];
  return Object.keys(env).filter(
    (name) =>
      env[name] !== undefined && !ofRunningCommand.test(name) && (network.test(name) || own.test(name)),
  );
}

/** Not by every word that sounds secret: `npm_config_auth_type` and `UV_KEYRING_PROVIDER` are settings. */
function isCredential(name: string): boolean {
  return /token|passw|_auth$|username|(?:^|[_:])key$/i.test(name);
}

/**
 * npm waits 70 s before it says that it cannot reach its registry, and prints nothing until then. These shorten the
 * pauses between its attempts, not their number. What the user set counts.
 */
async function quickRetries(
  env: Environment,
  places: { folder: string; home: string },
): Promise<Record<string, string>> {
  if (Object.keys(env).some((name) => /^npm_config_fetch_retr/i.test(name))) return {};
  if (await npmrcSets(/fetch-retr[\w-]*/, places)) return {};
  return { npm_config_fetch_retry_mintimeout: "500", npm_config_fetch_retry_maxtimeout: "2000" };
}

/** What must not be repeated of variables that a server gets: values of secret names, and logins in URLs. */
export function secretsAmong(names: readonly string[], env: Environment): string[] {
  return names.flatMap((name) => {
    const value = env[name] ?? "";
    return [...(looksSecret(name) && value !== "" ? [value] : []), ...loginsIn(value)];
  });
}
