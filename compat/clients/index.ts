import { claudeCode } from "./claude-code.ts";
import type { CompatClient } from "./client.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { inspector } from "./inspector.ts";
import { mcporter } from "./mcporter.ts";
import { opencode } from "./opencode.ts";
import { sdkV1 } from "./sdk-v1.ts";
import { sdkV2 } from "./sdk-v2.ts";

/** In the order of the table. */
export const clients: readonly CompatClient[] = [
  claudeCode,
  codex,
  opencode,
  gemini,
  copilot,
  inspector,
  mcporter,
  sdkV1,
  sdkV2,
];
