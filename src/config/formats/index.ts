import { amp } from "./amp.ts";
import { claudeCode } from "./claude-code.ts";
import { claudeDesktop } from "./claude-desktop.ts";
import { cline, roo } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueDev } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import type { Format } from "./format.ts";
import { gemini } from "./gemini.ts";
import { goose } from "./goose.ts";
import { kiro } from "./kiro.ts";
import { lmStudio } from "./lm-studio.ts";
import { manifest } from "./manifest.ts";
import { mcporter } from "./mcporter.ts";
import { opencode } from "./opencode.ts";
import { toolloop } from "./toolloop.ts";
import { vscode } from "./vscode.ts";
import { antigravity, windsurf } from "./windsurf.ts";
import { zed } from "./zed.ts";

export type * from "./format.ts";

/** Every client whose files are understood, in the order in which they are offered. */
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
  continueDev,
  amp,
  kiro,
  mcporter,
  toolloop,
  manifest,
];
