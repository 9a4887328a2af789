/**
 * Whoever answers what the engine asks: a person at a terminal, a program, a queue. Every method is optional; what
 * nobody answers is declined. Each is given a signal that is aborted when the answer no longer matters.
 */
export interface Interact {
  approve?(question: ApproveQuestion, signal: AbortSignal): Promise<Approval>;
  elicit?(question: ElicitQuestion, signal: AbortSignal): Promise<ElicitAnswer>;
  sample?(question: SampleQuestion, signal: AbortSignal): Promise<Record<string, unknown>>;
  roots?(question: RootsQuestion, signal: AbortSignal): Promise<Root[]>;
  /** A server wants a login, or one with more rights. How a person gets there; undefined when nobody wants to now. */
  logIn?(question: LogInQuestion, signal: AbortSignal): Promise<LoginWays | undefined>;
}

interface Asked {
  /** Unique in this process. */
  id: string;
  /** The server on whose behalf it is asked; show it. */
  server: string;
}

export interface ApproveQuestion extends Asked {
  kind: "approve";
  tool: string;
  toolId: string;
  title?: string;
  arguments: Record<string, unknown>;
  annotations: Record<string, unknown>;
  /** Why it is asked. */
  because: string;
}

export type Approval = { decision: "allow" | "deny"; reason?: string };

export type ElicitQuestion = ElicitForm | ElicitUrl;

export interface ElicitForm extends Asked {
  kind: "elicit";
  mode: "form";
  message: string;
  /** A flat object schema of primitive fields. */
  schema: Record<string, unknown>;
  /** The server's parameters, untouched. */
  params: Record<string, unknown>;
}

export interface ElicitUrl extends Asked {
  kind: "elicit";
  mode: "url";
  message: string;
  /** Never opened by itself: show it in full, with its host, and ask first. */
  url: string;
  elicitationId?: string;
  /** The server's parameters, untouched. */
  params: Record<string, unknown>;
}

export type ElicitAnswer =
  | { action: "accept"; content?: Record<string, unknown> }
  | { action: "decline" | "cancel" };

export interface SampleQuestion extends Asked {
  kind: "sample";
  /** The server's `sampling/createMessage` parameters, untouched. */
  params: Record<string, unknown>;
}

export interface RootsQuestion extends Asked {
  kind: "roots";
}

export interface LogInQuestion extends Asked {
  kind: "log-in";
  /** Which account it will be. */
  profile: string;
  /** The rights that are missing from the login there is; empty when there is none. */
  scopes: string[];
  /** Why it is asked. */
  because: string;
}

/** How a person is led to the page where they agree; without any of these the login waits for a browser in vain. */
export interface LoginWays {
  /** Shows a person the page. The address is safe to open, and rejecting means only that they open it themselves. */
  openUrl?: ((url: URL) => void | Promise<void>) | undefined;
  /** Asks for the address that the browser ended at, for machines whose browser is elsewhere. */
  askRedirect?: ((url: URL, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Uses a code that is typed in elsewhere; shows it. */
  device?: ((prompt: DevicePrompt) => void | Promise<void>) | undefined;
}

/** What a person does on another device. */
export interface DevicePrompt {
  /** The host of the authorization server: who asks. */
  issuer: string;
  /** Where to go; safe to open. */
  url: string;
  /** What to type there. */
  code: string;
  expiresInMs: number;
  /** What a person should look at before they go there. */
  warning?: string | undefined;
}

export interface Root {
  uri: string;
  name?: string;
}

/** What we may tell servers that we can do, given who is there to answer. */
export function interactCapabilities({ elicit, sample, roots }: Interact): Record<string, unknown> {
  return {
    ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(sample && { sampling: {} }),
    ...(roots && { roots: {} }),
  };
}
