import type { ErrorSummary } from "../../host.ts";

/** What happens in a conversation: `--json` prints each on a line, and the screen shows them. JSON-safe. */
export type ChatEvent =
  | { type: "start"; conversation: string; model: string; provider: string }
  | { type: "text"; text: string }
  | { type: "tool-call"; id: string; tool: string; arguments: unknown }
  | {
      type: "tool-progress";
      server: string;
      tool: string;
      progress: number;
      total?: number;
      message?: string;
    }
  | { type: "tool-result"; id: string; tool: string; isError: boolean; text: string; files: string[] }
  /** Something a person should know: a mention that could not be read, a server in trouble, a limit. */
  | { type: "notice"; message: string }
  | { type: "end"; outcome: Outcome; steps: number; usage: Usage; error?: ErrorSummary };

/** How a turn ended. */
export type Outcome = "done" | "cancelled" | "failed";

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

export type EmitChat = (event: ChatEvent) => void;
