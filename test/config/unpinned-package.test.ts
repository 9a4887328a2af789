import { expect, it } from "vitest";
import { unpinnedPackage } from "../../src/config.ts";

it.each([
  ["npx -y some-package", "some-package"],
  ["npx -y @scope/some-package", "@scope/some-package"],
  ["npx some-package@latest", "some-package@latest"],
  ["npx some-package@^1.2.0", "some-package@^1.2.0"],
  ["npx some-package@1", "some-package@1"],
  ["npx --package=tool@next tool", "tool@next"],
  ["npx -p tool run-it", "tool"],
  ["npx user/repository", "user/repository"],
  ["npx github:user/repository#main", "github:user/repository#main"],
  ["C:\\node\\npx.cmd some-package", "some-package"],
  ["bunx some-package", "some-package"],
  ["pnpm dlx some-package", "some-package"],
  ["npm exec --yes some-package", "some-package"],
  ["uvx some-package", "some-package"],
  ["uvx --python 3.12 some-package>=1", "some-package>=1"],
  ["uvx -p 3.12 some-package", "some-package"],
  ["uvx --from git+https://example.com/a.git tool", "git+https://example.com/a.git"],
  ["uv tool run some-package", "some-package"],
  ["pipx run some-package", "some-package"],
  ["env A=1 npx some-package", "some-package"],
])("M11 a package that is not pinned is found: %s", (line, name) => {
  expect(unpinnedPackage(line.split(" "))).toBe(name);
});

it("M11 a package that is not pinned is found in a script on the command line", () => {
  expect(unpinnedPackage(["sh", "-c", "cd /tmp && npx -y some-package"])).toBe("some-package");
});

it.each([
  "npx -y some-package@1.2.3",
  "npx @scope/some-package@1.2.3-beta.1",
  "npx --package=tool@1.2.3 tool",
  "npx ./local-package",
  "npx ${PACKAGE}",
  "npx",
  "npx --yes",
  "uvx some-package==1.2",
  "uvx some-package@1.2.3",
  "uvx --from some-package[extra]==1.2 tool",
  "uvx --from git+https://example.com/a.git@0123456789012345678901234567890123456789 tool",
  "npm run some-task",
  "uv run server.py",
  "node server.js",
])("M11 nothing is said about: %s", (line) => {
  expect(unpinnedPackage(line.split(" "))).toBeUndefined();
});
