import { expect, it } from "vitest";
import { packageLauncher, wrappedLauncher } from "../../src/lib/package-launcher.ts";

it.each([
  ["npx -y some-package", "npm"],
  ["/usr/local/bin/npx some-package", "npm"],
  ["npx.cmd some-package", "npm"],
  ["npm exec -- some-package", "npm"],
  ["pnpm dlx some-package", "npm"],
  ["yarn dlx some-package", "npm"],
  ["bunx some-package", "npm"],
  ["bun x some-package", "npm"],
  ["uvx some-package", "python"],
  ["uv tool run some-package", "python"],
  ["pipx run some-package", "python"],
  ["uv run server.py", "python"],
  ["deno run npm:some-package", "deno"],
  ["docker run some-image", "container"],
])("%s downloads the server before it runs it", (line, ecosystem) => {
  expect(packageLauncher(line.split(" "))).toMatchObject({ ecosystem });
});

it.each([
  "node server.js",
  "npm",
  "npm install",
  "bun server.ts",
  "pipx list",
  "uv tool list",
  "constructor",
])("%s does not", (line) => {
  expect(wrappedLauncher(line.split(" "))).toBeUndefined();
});

it("M20 recognises a launcher behind a shell, but not in the arguments of another program", () => {
  expect(wrappedLauncher(["sh", "-c", "cd /srv && npx -y some-package"])).toMatchObject({ program: "npx" });
  expect(wrappedLauncher(["cmd", "/c", "npx", "some-package"])).toMatchObject({ rest: ["some-package"] });
  expect(wrappedLauncher(["env", "A=1", "uvx", "some-package"])).toMatchObject({ program: "uvx" });
  expect(wrappedLauncher(["node", "server.js", "npx"])).toBeUndefined();
});
