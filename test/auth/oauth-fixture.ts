import { onTestFinished } from "vitest";
import { createHub, isPlugboardError } from "../../src/index.ts";
import type {
  ConfigLiteral,
  Hub,
  HubOptions,
  LoginOptions,
  PlugboardError,
  PlugboardEvent,
} from "../../src/index.ts";
import { createMemoryCredentials } from "../../src/auth/credentials.ts";
import type { Credentials } from "../../src/auth/credentials.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type {
  AuthOptions,
  AuthReceived,
  AuthServer,
  ProtectedMcp,
  ProtectedOptions,
} from "../fixtures/auth/index.ts";
import type { Script } from "../fixtures/fake/index.ts";

export type Entry = ConfigLiteral["servers"][string];

export interface Scene {
  auth: AuthServer;
  server: ProtectedMcp;
  credentials: Credentials;
  events: PlugboardEvent[];
  hub(entry?: object, options?: HubOptions): Promise<Hub>;
}

/** An authorization server that agrees to everything, a server behind it, and hubs that share their logins. */
export async function openScene(
  options: AuthOptions = {},
  protect: ProtectedOptions = {},
  script: Script = {},
): Promise<Scene> {
  const auth = await startAuthServer({ autoConsent: true, ...options });
  const server = await startProtectedMcp(auth, script, protect);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const credentials = createMemoryCredentials();
  const events: PlugboardEvent[] = [];
  return {
    auth,
    server,
    credentials,
    events,
    hub: (entry, more) => hubAt(server.url, entry, { credentials, ...more }, events),
  };
}

export async function hubAt(
  url: string,
  entry: object = {},
  options: HubOptions = {},
  events: PlugboardEvent[] = [],
): Promise<Hub> {
  const hub = await createHub({ servers: { issues: { url, ...entry } as Entry } }, { env: {}, ...options });
  onTestFinished(() => hub.close());
  for (const type of ["auth-changed", "connection-changed", "server-log", "call-end"] as const)
    hub.on(type, (event) => events.push(event));
  return hub;
}

/** A browser without a person: follows the redirect to our own door. */
export function browser(opened: URL[] = []): Pick<LoginOptions, "openUrl"> {
  return {
    openUrl: (url) => {
      opened.push(url);
      void fetch(url)
        .then((response) => response.text())
        .catch(() => undefined);
    },
  };
}

/** Where the browser would end up, for pasting. */
export async function redirectOf(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  return response.headers.get("location") ?? "";
}

export async function add(hub: Hub): Promise<unknown> {
  return (await hub.callTool("mcp__issues__add", { a: 1, b: 2 })).structuredContent;
}

export async function refusal(work: Promise<unknown>): Promise<PlugboardError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPlugboardError(error)) throw new Error("expected a PlugboardError", { cause: error });
  return error;
}

/** Every token that was asked for, by whichever grant. */
export function tokenRequests({ received }: Pick<AuthServer, "received">): AuthReceived[] {
  return received.filter(({ endpoint }) => endpoint === "token");
}

/** What was sent with a method of the protocol, the refused ones among it. */
export function requestsOf({ received }: Pick<ProtectedMcp, "received">, method: string): AuthReceived[] {
  return received.filter(({ message }) => message?.["method"] === method);
}

/** The access token that is kept for the server. */
export async function keptToken({ credentials, server }: Scene): Promise<string> {
  const record = await (await credentials.vault()).get(`tokens/${server.url}|default`);
  return (record as { tokens: { access_token: string } }).tokens.access_token;
}
