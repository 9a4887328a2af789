import { chmodSync } from "node:fs";
import { expect, it } from "vitest";
import { formatLock, readLock, writtenPins } from "../../src/config/lock/lock-file.ts";
import { wrapText } from "../../src/cli/terminal/text-width.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

it("M14 a full stop does not stand alone behind a word that is too long for its line", () => {
  expect(wrapText("See abcdefghij.", 10)).toEqual(["See", "abcdefghi", "j."]);
  expect(wrapText("a .", 1)).toEqual(["a", "."]);
});

it("M51 `sync` says when there are no servers to compare", async () => {
  const box = createSandbox({
    "home/.cursor/mcp.json": { mcpServers: { theirs: { command: "x" } } },
  });
  const { out, code } = await box.cli(["sync"]);
  expect(code).toBe(0);
  expect(out).toContain("You have no servers to compare with theirs.");
  expect(out).not.toContain("Your servers are the same there.");
});

it("M51 `sync` says which servers it does not compare, and when there is nothing at all", async () => {
  const box = createSandbox();
  expect((await box.cli(["sync"])).out).toMatch(
    /^You have no servers, and no configuration files .* found\./,
  );
  await box.cli(["add", "mine", "--", "true"]);
  expect((await box.cli(["sync"])).out).toBe("No configuration files of other clients found.\n");
  box.write("home/.cursor/mcp.json", { mcpServers: {} });
  expect((await box.cli(["sync"])).out).toContain("Run `plugboard add --scope user …` to add one");
});

it("M51 last lines are wrapped between words on a narrow screen", async () => {
  const box = createSandbox();
  const screen = { columns: 20, rows: 40 };
  expect((await box.cli(["approvals", "list"], { screen })).out).toBe("No answers are\nremembered.\n");
});

it("M57 `doctor` does not call a package unpinned whose version is in the lock file", async () => {
  const box = createSandbox();
  const { command, args } = fakeStdio({});
  const npx = box.write("bin/npx", `#!/bin/sh\nexec '${command}' '${args[0]}'\n`);
  chmodSync(npx, 0o755);
  const lock = "home/.config/plugboard/plugboard.lock";
  box.write("home/.config/plugboard/config.json", {
    mcpServers: { notes: { command: npx, args: ["-y", "notes-server"] } },
  });
  expect((await box.cli(["doctor"])).out).toContain("not pinned to a version");
  expect((await box.cli(["lock", "--yes"])).code).toBe(0);
  // The version behind this `npx` cannot be determined, so the lock does not fix it.
  expect((await box.cli(["doctor"])).out).toContain("not pinned to a version");
  const pins = (await readLock(box.path(lock))).servers.get("notes")!;
  const known = { ...pins, package: { ...pins.package!, version: "1.2.3" } };
  box.write(lock, formatLock({ notes: writtenPins(known) }));
  expect((await box.cli(["doctor"])).out).not.toContain("not pinned to a version");
});
