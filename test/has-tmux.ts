import { execFileSync } from "node:child_process";

/** Whether a real terminal can be tried here. */
export const hasTmux = (() => {
  try {
    execFileSync("tmux", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
