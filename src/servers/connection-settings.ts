import type { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import type { BackoffSettings } from "./backoff.ts";
import type { Heard, Otherwise } from "./rpc/inbound.ts";
import type { Session } from "./session.ts";
import type { ConnectionState } from "./state.ts";

export interface ConnectionSettings {
  name: string;
  /** The only caller that uses it; absent if several may. */
  caller?: string | undefined;
  /** Whoever answers while no request is under way, and hears every notification. */
  listener?: Otherwise | undefined;
  /** For whom it is, as events say it. */
  about?: { caller?: string; project?: string; account?: string };
  /** Whether it is kept up by itself, or started when somebody needs it. */
  eager: boolean;
  initial: ConnectionState;
  backoff?: Partial<BackoffSettings>;
  now(): number;
  random(): number;
  emit(event: PlugboardEvent): void;
  /** Opens a session; rejects with a `PlugboardError` and leaves nothing behind. */
  open(hooks: SessionHooks): Promise<Session>;
  /** The server asks, and the transport cannot tell whom. */
  onUntold?: (() => void) | undefined;
  /** True if the server has asked so: then exclusive requests take turns. */
  asksUntold?: (() => boolean) | undefined;
  onConnected?: (() => void) | undefined;
  /** It is connected, and returns its lists as far as they were asked for. */
  onWorking?: (() => void) | undefined;
  /** It did not connect, or ended; with `lists`, it is connected and did not return these. */
  onFailed?: ((error: PlugboardError, lists?: string[]) => void) | undefined;
  /** A number that no session of these servers had before. */
  nextSession(): number;
  /** What the server said by itself may not have arrived: everything that it tells of counts as changed. */
  onMissed?: (() => void) | undefined;
  /** What the newest session shows the server. */
  login?: (() => KeptLogin | undefined) | undefined;
}

/** A login that other processes, and other connections, may replace. Other credentials have none of these. */
export interface KeptLogin {
  /** Another one when another token came into use. */
  readonly version?: number;
  /** Whether somebody has logged in since: then it is worth another try. */
  hasNewLogin?(): Promise<boolean>;
  /** Uses what is kept now. */
  reread?(): Promise<void>;
}

export interface SessionHooks {
  signal: AbortSignal;
  onDetail(detail: string): void;
  /** A line that the server's program wrote to stderr, without what is secret. */
  onStderr(line: string): void;
  /** A line that it wrote to stdout and that is not a message, without what is secret. */
  onSkipped(line: string): void;
  onLost(error: PlugboardError): void;
  /** What the server said by itself may not have arrived. */
  onMissed(): void;
  /** The server may no longer know the session. */
  onDoubted(): void;
  /** A question came that could not be tied to one request. */
  onUntold(): void;
  /** Whoever answers while no request is under way. */
  listener: Otherwise | undefined;
  onNotification(method: string, params: Record<string, unknown>, heard?: Heard): void;
}
