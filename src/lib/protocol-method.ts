import { isRecord } from "./record.ts";

/** What a method name is to the protocol. */
export type MethodStanding =
  /** One of its methods, in whatever spelling a peer might still understand, or not a name at all. */
  | "known"
  /** In a namespace of the protocol, but none of its methods. */
  | "reserved"
  /** Somebody's own. */
  | "foreign";

/** Every request of both eras, in both directions. */
const requests = [
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "logging/setLevel",
  "subscriptions/listen",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
  "sampling/createMessage",
  "elicitation/create",
  "roots/list",
  // Not of the protocol itself, but Plugboard sends it by its own rules.
  "codex/sandbox-state/update",
];

const notifications = [
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/message",
  "notifications/resources/updated",
  "notifications/resources/list_changed",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/roots/list_changed",
  "notifications/subscriptions/acknowledged",
  "notifications/elicitation/complete",
  "notifications/tasks",
  "notifications/tasks/status",
];

const prefix = "notifications/";
/** A server may read a name more generously than we do: without regard to case, separators or what surrounds it. */
const folded = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
const foldedPrefix = folded(prefix);
const exact: ReadonlySet<string> = new Set([...requests, ...notifications]);
const known: ReadonlySet<string> = new Set([...exact].map(folded));
const namespaces: ReadonlySet<string> = new Set(
  requests.filter((name) => name.includes("/") && !name.startsWith("codex/")).map((name) => firstPart(name)),
);
const plainName = /^[\w$@:.-]+(\/[\w$@:.-]+)*$/;

/** What a method name means to the protocol, as a request or as a notification. */
export function methodStanding(method: string, as: "request" | "notification"): MethodStanding {
  if (exact.has(method)) return "known";
  if (!plainName.test(method) || method.split("/").some((part) => /^\.+$/.test(part))) return "known";
  const whole = folded(method);
  const inner = whole.startsWith(foldedPrefix) ? whole.slice(foldedPrefix.length) : whole;
  if (known.has(whole) || known.has(inner) || inner === "") return "known";
  const isNotification = method.toLowerCase().startsWith(prefix);
  if (isNotification && as === "request") return "known";
  const first = firstPart(isNotification ? method.slice(prefix.length) : method);
  return namespaces.has(first) || first === foldedPrefix ? "reserved" : "foreign";
}

function firstPart(method: string): string {
  return folded(method.split(/[/:.]/, 1)[0] ?? "");
}

/**
 * True if a peer declares this method: under its name or the beginning of it in `experimental` or `extensions`, where
 * an extension has a vendor's name in front.
 */
export function declaresMethod(capabilities: Record<string, unknown>, method: string): boolean {
  const name = method.startsWith(prefix) ? method.slice(prefix.length) : method;
  const covers = (declared: string) => name === declared || name.startsWith(`${declared}/`);
  return ["experimental", "extensions"].some((key) => {
    const declared = capabilities[key];
    return (
      isRecord(declared) &&
      Object.entries(declared).some(
        ([id, value]) =>
          Boolean(value) && (covers(id) || (id.includes("/") && covers(id.slice(id.indexOf("/") + 1)))),
      )
    );
  });
}

/** True if a message that is not ours to understand may be handed to a peer with these capabilities. */
export function mayPass(
  method: string,
  as: "request" | "notification",
  capabilities: Record<string, unknown>,
): boolean {
  const standing = methodStanding(method, as);
  return standing === "foreign" || (standing === "reserved" && declaresMethod(capabilities, method));
}
