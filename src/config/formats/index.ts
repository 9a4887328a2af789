import { amp } from "./clients/amp.ts";
import { claudeCode } from "./clients/claude-code.ts";
import { claudeDesktop } from "./clients/claude-desktop.ts";
import { cline, roo } from "./clients/cline.ts";
import { codex } from "./clients/codex.ts";
import { continueDev } from "./clients/continue.ts";
import { copilot } from "./clients/copilot.ts";
import { crush } from "./clients/crush.ts";
import { cursor } from "./clients/cursor.ts";
import { droid } from "./clients/droid.ts";
import type { Format } from "./format.ts";
import { gemini } from "./clients/gemini.ts";
import { goose } from "./clients/goose.ts";
import { grok } from "./clients/grok.ts";
import { kilo } from "./clients/kilo.ts";
import { kimi } from "./clients/kimi.ts";
import { kiro } from "./clients/kiro.ts";
import { lmStudio } from "./clients/lm-studio.ts";
import { manifest } from "./clients/manifest.ts";
import { mastra } from "./clients/mastra.ts";
import { mcporter } from "./clients/mcporter.ts";
import { opencode } from "./clients/opencode.ts";
import { pi } from "./clients/pi.ts";
import { qoder } from "./clients/qoder.ts";
import { toolloop } from "./clients/toolloop.ts";
import { trae } from "./clients/trae.ts";
import { vibe } from "./clients/vibe.ts";
import { vscode } from "./clients/vscode.ts";
import { antigravity, windsurf } from "./clients/windsurf.ts";
import { zed } from "./clients/zed.ts";

export type * from "./format.ts";

/** All supported clients, in the order in which they are shown. */
export const formats: readonly Format[] = [
  claudeCode,
  claudeDesktop,
  codex,
  cursor,
  vscode,
  opencode,
  gemini,
  windsurf,
  antigravity,
  zed,
  copilot,
  lmStudio,
  goose,
  cline,
  roo,
  kilo,
  continueDev,
  amp,
  kiro,
  grok,
  kimi,
  droid,
  crush,
  vibe,
  qoder,
  trae,
  pi,
  mastra,
  mcporter,
  toolloop,
  manifest,
];
