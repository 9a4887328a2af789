import { PlugboardError } from "../errors.ts";
import { declaresMethod, methodStanding } from "../lib/protocol-method.ts";

/** What a server declares; it may have to be connected for that. */
type Declared = () => Promise<Readonly<Record<string, unknown>>>;

/** True for the protocol's requests that only read. */
export function passesAsItIs(method: string): boolean {
  return reading.has(method);
}

/**
 * Throws for any other request that may not be sent as it is: the protocol's methods have functions that follow the
 * rules. What else the server understands passes under its exact name.
 */
export async function assertRequest(method: string, server: string, declared: Declared): Promise<void> {
  await assertPassing("request", method, server, declared);
}

/** The same for a notification: Plugboard sends the protocol's own by itself. */
export async function assertNotification(method: string, server: string, declared: Declared): Promise<void> {
  await assertPassing("notification", method, server, declared);
}

async function assertPassing(
  as: "request" | "notification",
  method: string,
  server: string,
  declared: Declared,
): Promise<void> {
  const standing = methodStanding(method, as);
  if (standing === "known") throw refused(as, method, server);
  if (standing === "reserved" && !declaresMethod(await declared(), method)) throw undeclared(method, server);
}

const reading: ReadonlySet<string> = new Set([
  "ping",
  "server/discover",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
]);

function refused(as: "request" | "notification", method: string, server: string): PlugboardError {
  const shown = JSON.stringify(method.slice(0, 100));
  if (as === "notification")
    return new PlugboardError("usage-invalid", `${shown} cannot be sent as a notification.`, {
      server,
      hint:
        hints.get(method) ?? "Notifications of the server's own pass; the protocol's are sent by Plugboard.",
    });
  const message =
    method === "tools/call" ? "`request` cannot call tools." : `\`request\` cannot send ${shown}.`;
  const hint = method.toLowerCase().startsWith("notifications/")
    ? "Use `notify`: notifications have no answer."
    : (hints.get(method) ?? "Write the protocol's methods as it spells them, such as resources/read.");
  return new PlugboardError("usage-invalid", message, { server, hint });
}

function undeclared(method: string, server: string): PlugboardError {
  const message = `"${server}" does not declare ${method.slice(0, 100)}, and its name is reserved for the protocol.`;
  const hint = "A server declares its own methods in `experimental` or `extensions` of its capabilities.";
  return new PlugboardError("usage-invalid", message, { server, hint });
}

const greeted = "Use the server: it is connected and greeted when that is needed.";
const subscribed = "Use `subscribeResource`.";
const tasks = "Use `tasks` and `task`, which know whose task it is.";

const hints: ReadonlyMap<string, string> = new Map([
  ["tools/call", "Use `callTool`, or `forwardCall` for the server's unmodified answer."],
  ["initialize", greeted],
  ["notifications/initialized", greeted],
  ["notifications/cancelled", "Abort the `signal` of the request."],
  ["notifications/progress", "Plugboard has no progress to report."],
  ["notifications/roots/list_changed", "Use `rootsChanged`."],
  ["codex/sandbox-state/update", "Use `setSandboxState`."],
  ["logging/setLevel", "Use `setLogLevel` of the hub."],
  ["resources/subscribe", subscribed],
  ["resources/unsubscribe", subscribed],
  ["subscriptions/listen", subscribed],
  ["tasks/get", tasks],
  ["tasks/list", tasks],
  ["tasks/result", tasks],
  ["tasks/update", tasks],
  ["tasks/cancel", tasks],
]);
