import { stripVTControlCharacters } from "node:util";
import { isPlugboardError } from "../errors.ts";
import { shownUrl } from "../config/show/references.ts";
import type { Environment } from "../lib/folders.ts";
import { matchesAny } from "../lib/glob.ts";
import type { Ecosystem } from "../lib/package-launcher.ts";
import { brokenNpxFolder, incompleteAdvice, incompleteWords } from "../lib/npx/folder.ts";
import { isRecord, own } from "../lib/record.ts";
import { asSentence } from "../lib/sentence.ts";
import { printable } from "../lib/printable.ts";
import { registryCredentials } from "./launcher-variables.ts";
import type { StdioTarget, Target } from "./target.ts";

interface Here {
  env: Environment;
  home: string;
}

/**
 * Says why a package launcher could not install a server, and which variable would help. Other failures, and those of
 * the server itself, stay as they are.
 */
export async function explainLauncher(error: unknown, target: Target, place: Here): Promise<unknown> {
  const { env } = place;
  const found = installFailure(error, target);
  if (!found) return explainIncomplete(adviseOnSilence(error, target, env), target, place);
  const { cause, report, flat, launched, failure } = found;
  const { program, ecosystem } = launched.launcher;
  const [, host = "the package registry"] = /\bhttps?:\/\/(?:[^@/\s]*@)?([\w.:[\]-]+)/.exec(report) ?? [];
  const [, reason = cause.sign.exec(flat)?.[0] ?? ""] = /\breason: (.+)$/m.exec(report) ?? [];
  const why = printable(reason.trim(), { oneLine: true }).slice(0, maxReason);
  const message = `"${failure.server ?? ""}" could not be installed: ${cause.says(program, printable(host))} (${why}).`;
  return failure.with({ message, hint: cause.advises(ecosystem, launched, env), executed: "no" });
}

/** A firewall that drops packets makes a launcher wait in silence, and so does a registry that is stuck. */
function adviseOnSilence(error: unknown, target: Target, env: Environment): unknown {
  if (target.kind !== "stdio" || !target.launcher || !isPlugboardError(error, "start-timeout")) return error;
  const { install } = error.data ?? {};
  if (!isRecord(install)) return error;
  const { program, ecosystem } = target.launcher;
  const again = "The next attempt begins anew.";
  const hint =
    install["isSilent"] === true
      ? `${program} may be waiting for its registry. ${adviseProxy(ecosystem, target, env)}`
      : `${again} Increase \`startupTimeoutMs\` if the install takes longer than this, or install the package yourself.`;
  return error.with({ hint });
}

/** Says which folder to delete if a program lacks parts of itself, as after an install that was interrupted. */
async function explainIncomplete(error: unknown, target: Target, { env, home }: Here): Promise<unknown> {
  if (!isPlugboardError(error) || target.kind !== "stdio") return error;
  if (!["server-exited", "start-timeout", "protocol-error"].includes(error.code)) return error;
  const { stderr } = error.data ?? {};
  const { env: own, cwd } = target.program;
  const seen = { ...env, ...own };
  const place = { folder: cwd ?? home, home: seen["HOME"] ?? home, env: seen };
  const { folder } = (await brokenNpxFolder(typeof stderr === "string" ? stderr : "", place)) ?? {};
  if (folder === undefined) return error;
  return error.with({
    message: `${asSentence(error.message)} ${incompleteWords(folder)}`,
    hint: incompleteAdvice(folder),
    data: { ...error.data, incompleteFolder: folder },
  });
}

/** True if a launcher could not download the server, so that the server itself never ran. */
export function failedToInstall(error: unknown, target: Target): boolean {
  return installFailure(error, target) !== undefined;
}

function installFailure(failure: unknown, target: Target) {
  if (target.kind !== "stdio" || !target.launcher || !isPlugboardError(failure)) return undefined;
  if (failure.code !== "server-exited" && failure.code !== "start-timeout") return undefined;
  const { stderr } = failure.data ?? {};
  const report = launcherReport(typeof stderr === "string" ? stderr : "");
  // Some launchers break their lines anywhere.
  const flat = report.replaceAll(/\s+/g, " ");
  const cause = causes.find(({ sign }) => sign.test(flat));
  return cause && { cause, report, flat, failure, launched: { ...target, launcher: target.launcher } };
}

const maxReason = 200;

/** What the launcher itself printed before it gave up. A server that it started prints none of these beginnings. */
function launcherReport(stderr: string): string {
  const text = stripVTControlCharacters(stderr);
  const start = text.search(ofLauncher);
  return start === -1 ? "" : text.slice(start);
}

const ofLauncher =
  /^npm (?:error|ERR!) |\bERR_PNPM_|\bYN0\d{3}\b|^error: (?:GET https?:|Failed loading https?:|\w+ downloading )|^(?:error: |\s*× )Failed to (?:fetch|download)\b|\bCould not fetch URL\b|\bRetrying \(Retry/m;

interface Cause {
  sign: RegExp;
  says(program: string, host: string): string;
  advises(ecosystem: Ecosystem, target: StdioTarget, env: Environment): string;
}

const causes: readonly Cause[] = [
  {
    sign: /\b(?:SELF_SIGNED_CERT\w*|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY_LEAF)\w*|CERT_[A-Z]\w*|ERR_TLS_CERT\w*|CERTIFICATE_VERIFY_FAILED|UnknownIssuer)\b|self[- ]signed certificate|unable to (?:get local issuer|verify the first) certificate|invalid peer certificate/,
    says: (program, host) => `${program} does not trust the certificate of ${host}`,
    advises: adviseAuthority,
  },
  {
    sign: /\b(?:E401|ENEEDAUTH|E403)\b|\b40[13] (?:Unauthorized|Forbidden)\b/,
    says: (program, host) => `${host} refused the download by ${program}`,
    advises: (ecosystem, target, env) =>
      [
        withheldAdvice(ecosystem, target, env),
        ecosystem === "npm" && "Log in to the registry with `npm login`.",
      ].find(Boolean) || "Check the login for the registry.",
  },
  {
    sign: /\bE404\b|\b404 Not Found\b/,
    says: (_, host) => `${host} does not have the package`,
    advises: (ecosystem, target, env) =>
      ["Check the name and the version.", withheldAdvice(ecosystem, target, env)].filter(Boolean).join(" "),
  },
  {
    sign: /\bNo matching version found for [\w@./^~<>=*-]+[\w*]/,
    says: (_, host) => `${host} has no version that fits`,
    advises: (ecosystem, target, env) =>
      ["Try another version of the server.", withheldAdvice(ecosystem, target, env)]
        .filter(Boolean)
        .join(" "),
  },
  {
    sign: /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ConnectionRefused|ERR_SOCKET_\w+|E\w+TIMEOUT)\b|dns error|error sending request|tcp connect error|[Cc]onnection refused|Name or service not known|network is unreachable/,
    says: (program, host) => `${program} cannot reach ${host}`,
    advises: adviseProxy,
  },
];

/** The variables that name further authorities; the first is the one to recommend. */
const authorityVariables: Record<Ecosystem, readonly string[]> = {
  npm: ["NODE_EXTRA_CA_CERTS", "npm_config_cafile"],
  python: [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "PIP_CERT",
  ],
  deno: ["DENO_CERT", "DENO_TLS_CA_STORE"],
  container: [],
};

function adviseAuthority(ecosystem: Ecosystem, target: StdioTarget, env: Environment): string {
  const [best = "SSL_CERT_FILE", ...others] = authorityVariables[ecosystem];
  const seen = variablesOf(target, env);
  const set = [best, ...others].find((name) => seen(name));
  if (set === undefined)
    return `If your network has a certificate authority of its own, set ${best} to the file with its certificate.`;
  return `Check that ${set} (${printable(seen(set) ?? "", { oneLine: true })}) exists and contains the authority that signed it.`;
}

function adviseProxy(ecosystem: Ecosystem, target: StdioTarget, env: Environment): string {
  const seen = variablesOf(target, env);
  const names = [
    "HTTPS_PROXY",
    "https_proxy",
    "npm_config_https_proxy",
    "npm_config_proxy",
    "ALL_PROXY",
    "HTTP_PROXY",
  ];
  const set = names.find((name) => seen(name));
  if (set !== undefined)
    return `Check the network, and the proxy that ${set} names (${shownUrl(seen(set) ?? "")}).`;
  const registry = { npm: "npm_config_registry", python: "UV_DEFAULT_INDEX or PIP_INDEX_URL" }[
    ecosystem as string
  ];
  const other = registry === undefined ? "" : `, for another registry ${registry}`;
  return `Check the network. If it has a proxy, set HTTPS_PROXY${other}.`;
}

/** Names the credentials that are set here, but that the launcher did not get. */
function withheldAdvice(ecosystem: Ecosystem, { program }: StdioTarget, env: Environment): string {
  const { inheritEnv = [], env: given } = program;
  const missing = registryCredentials(ecosystem, env).filter(
    (name) => !matchesAny(inheritEnv, name) && own(given, name) === undefined,
  );
  if (missing.length === 0) return "";
  const [one = ""] = missing;
  return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} set, but servers do not get credentials: write "inheritEnv": ["${one}"] for this server.`;
}

/** A variable as the server gets it. */
function variablesOf({ program }: StdioTarget, env: Environment): (name: string) => string | undefined {
  const { inheritEnv = [], env: given } = program;
  return (name) => own(given, name) ?? (matchesAny(inheritEnv, name) ? env[name] : undefined);
}
