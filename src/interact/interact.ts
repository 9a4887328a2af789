/**
 * Answers the engine's questions: a person at a terminal, a program, a queue. Every method is optional; a question
 * without its method is declined. The signal is aborted when the answer no longer matters.
 */
export interface Interact {
  approve?(question: ApproveQuestion, signal: AbortSignal): Promise<Approval>;
  elicit?(question: ElicitQuestion, signal: AbortSignal): Promise<ElicitAnswer>;
  sample?(question: SampleQuestion, signal: AbortSignal): Promise<Record<string, unknown>>;
  /** Call `rootsChanged` of the view when the answer is a different one. */
  roots?(question: RootsQuestion, signal: AbortSignal): Promise<Root[]>;
  /** A server requires a login, or one with more scopes. Return how to show it to a person; undefined to decline. */
  logIn?(question: LogInQuestion, signal: AbortSignal): Promise<LoginWays | undefined>;
}

interface Asked {
  /** Unique in this process. */
  id: string;
  /** The server that the question is about; show it to the person. */
  server: string;
}

/** May this call be made? */
export interface ApproveQuestion extends Asked {
  kind: "approve";
  tool: string;
  toolId: string;
  title?: string;
  arguments: Record<string, unknown>;
  annotations: Record<string, unknown>;
  /** Why it is asked. */
  because: string;
  /** The rule that requires the question, and where it is written; absent if whoever calls wants it. */
  rule?: { path: string; scope: string; file?: string; line?: number };
  /** How long an answer may be remembered, and what each would cover, in words. Offer only what is there. */
  remember: { session?: string; always?: string };
  /** Why an earlier `always` for this tool does not count any more. */
  forgotten?: string;
}

/**
 * `allow` holds for this call unless it is remembered: for this `session`, i.e. until the hub closes, or `always`. `deny`
 * ends the call. `cancel` ends the whole turn of the agent that made it: the error has `endsTurn`. A model reads the
 * `reason`, and never the `hint`: that is for the person, for instance how to allow such calls.
 */
export type Approval =
  | { decision: "allow"; remember?: Remembering | undefined; reason?: string }
  | { decision: "deny" | "cancel"; reason?: string; hint?: string };

/** How long an answer is remembered: until the hub closes, or always. */
export type Remembering = "session" | "always";

/** A server wants a person to fill in a form or to open a page. */
export type ElicitQuestion = ElicitForm | ElicitUrl;

/** A server wants a person to fill in a form. */
export interface ElicitForm extends Asked {
  kind: "elicit";
  mode: "form";
  message: string;
  /** An object schema with primitive fields only. */
  schema: Record<string, unknown>;
  /** The server's parameters, untouched. */
  params: Record<string, unknown>;
}

/** A server wants a person to open a page. */
export interface ElicitUrl extends Asked {
  kind: "elicit";
  mode: "url";
  message: string;
  /** Never open it automatically: show it in full, with its host, and ask first. */
  url: string;
  elicitationId?: string;
  /** The server's parameters, untouched. */
  params: Record<string, unknown>;
}

/**
 * `content` is sent exactly as it is and has to match the form; without it, the form is accepted as it stands, with the
 * default of each field. An answer that does not match is not sent, and the call fails with `usage-invalid`.
 */
export type ElicitAnswer =
  | { action: "accept"; content?: Record<string, unknown> }
  | { action: "decline" | "cancel" };

/** A server wants a model to write something. Answer with the result of `sampling/createMessage`. */
export interface SampleQuestion extends Asked {
  kind: "sample";
  /** The server's `sampling/createMessage` parameters, untouched. */
  params: Record<string, unknown>;
}

/** A server wants to know which folders it may work in. */
export interface RootsQuestion extends Asked {
  kind: "roots";
}

/** A server requires a login, or one with more scopes. */
export interface LogInQuestion extends Asked {
  kind: "log-in";
  /** The account to log in with. */
  profile: string;
  /** The scopes that the current login lacks; empty if there is no login. */
  scopes: string[];
  /** Why it is asked. */
  because: string;
}

/** How to take a person to the login page. Without any of these, the login waits until it times out. */
export interface LoginWays {
  /** Shows the page to a person. The URL is safe to open. If this rejects, they can still open it themselves. */
  openUrl?: ((url: URL) => void | Promise<void>) | undefined;
  /** Asks for the final URL of the browser, for when the browser runs on another machine. */
  askRedirect?: ((url: URL, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Shows a code that the person enters on another device. */
  device?: ((prompt: DevicePrompt) => void | Promise<void>) | undefined;
  /**
   * Asks whether to log in at another authorization server than before. Nothing has been sent there yet. Without this,
   * or if it returns false, the login fails.
   */
  acceptIssuer?: ((change: IssuerChange, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
}

/** A server wants the login at another place than before. */
export interface IssuerChange {
  server: string;
  /** The issuer, or the origin of its endpoints, that was used before. */
  from: string;
  to: string;
  /** The origins that would receive codes, tokens and credentials; they may differ from the issuer's. */
  endpoints: string[];
  /** The configured credentials that would be sent there, in words, such as `client secret`. */
  sends: string[];
}

/** What a person needs to log in on another device. */
export interface DevicePrompt {
  /** The host of the authorization server. */
  issuer: string;
  /** The page to open; safe to open. */
  url: string;
  /** The code to enter there. */
  code: string;
  expiresInMs: number;
  /** What the person should check before opening the page. */
  warning?: string | undefined;
}

/** A folder, as a `file:` URI. */
export interface Root {
  uri: string;
  name?: string;
}

/** The client capabilities to announce to servers, given which questions can be answered. */
export function interactCapabilities({ elicit, sample, roots }: Interact): Record<string, unknown> {
  return {
    ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(sample && { sampling: {} }),
    ...(roots && { roots: { listChanged: true } }),
  };
}
