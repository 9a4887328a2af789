import { ampCase } from "./amp.ts";
import { antigravityCase } from "./antigravity.ts";
import { claudeCodeCase } from "./claude-code.ts";
import { claudeDesktopCase } from "./claude-desktop.ts";
import { clineCase } from "./cline.ts";
import { codexCase } from "./codex.ts";
import { continueCase } from "./continue.ts";
import { copilotCase } from "./copilot.ts";
import { cursorCase } from "./cursor.ts";
import { geminiCase } from "./gemini.ts";
import { gooseCase } from "./goose.ts";
import { kiroCase } from "./kiro.ts";
import { lmStudioCase } from "./lm-studio.ts";
import { kiloCase } from "./kilo.ts";
import { grokCase } from "./grok.ts";
import { kimiCase } from "./kimi.ts";
import { droidCase } from "./droid.ts";
import { crushCase } from "./crush.ts";
import { vibeCase } from "./vibe.ts";
import { qoderCase } from "./qoder.ts";
import { traeCase } from "./trae.ts";
import { piCase } from "./pi.ts";
import { mastraCase } from "./mastra.ts";
import { manifestCase } from "./manifest.ts";
import { mcporterCase } from "./mcporter.ts";
import { opencodeCase } from "./opencode.ts";
import { rooCase } from "./roo.ts";
import { toolloopCase } from "./toolloop.ts";
import { vscodeCase } from "./vscode.ts";
import { windsurfCase } from "./windsurf.ts";
import { zedCase } from "./zed.ts";
import type { FormatCase } from "./case.ts";

export const cases: readonly FormatCase[] = [
  claudeCodeCase,
  claudeDesktopCase,
  codexCase,
  cursorCase,
  vscodeCase,
  opencodeCase,
  geminiCase,
  windsurfCase,
  antigravityCase,
  zedCase,
  copilotCase,
  lmStudioCase,
  gooseCase,
  clineCase,
  rooCase,
  kiloCase,
  continueCase,
  ampCase,
  kiroCase,
  grokCase,
  kimiCase,
  droidCase,
  crushCase,
  vibeCase,
  qoderCase,
  traeCase,
  piCase,
  mastraCase,
  mcporterCase,
  toolloopCase,
  manifestCase,
];
