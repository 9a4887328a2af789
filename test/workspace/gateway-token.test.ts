import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

async function openIn(box: Sandbox): Promise<Workspace> {
  const workspace = await Workspace.open(box.options);
  onTestFinished(() => workspace.close());
  return workspace;
}

const place = "home/.local/state/plugboard/gateway/token";

describe("M80 the gateway's token", () => {
  it("is made once, for this user only, and kept", async () => {
    const box = createSandbox();
    const workspace = await openIn(box);
    const first = await workspace.gatewayToken();
    expect(first).toMatchObject({ file: box.path(place), isNew: true });
    expect(first.token).toMatch(/^pb_[\w-]{43}$/);
    expect(statSync(box.path(place)).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(box.path(place))).mode & 0o777).toBe(0o700);
    expect(await (await openIn(box)).gatewayToken()).toEqual({ ...first, isNew: false });
  });

  it("is the same for processes that ask at once", async () => {
    const box = createSandbox();
    const spaces = await Promise.all([openIn(box), openIn(box), openIn(box)]);
    const tokens = await Promise.all(spaces.map((workspace) => workspace.gatewayToken()));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
    expect(tokens.filter(({ isNew }) => isNew)).toHaveLength(1);
  });

  it("can be replaced", async () => {
    const box = createSandbox();
    const workspace = await openIn(box);
    const { token } = await workspace.gatewayToken();
    const renewed = await workspace.gatewayToken({ renew: true });
    expect(renewed).toMatchObject({ isNew: true });
    expect(renewed.token).not.toBe(token);
    expect(await workspace.gatewayToken()).toMatchObject({ token: renewed.token });
  });

  it("comes from PLUGBOARD_TOKEN if that is set, and is then not stored", async () => {
    const box = createSandbox();
    box.env = { ...box.env, PLUGBOARD_TOKEN: "a-long-and-random-text" };
    const workspace = await openIn(box);
    expect(await workspace.gatewayToken()).toEqual({ token: "a-long-and-random-text", isNew: false });
    expect(existsSync(box.path(place))).toBe(false);
    await expect(workspace.gatewayToken({ renew: true })).rejects.toMatchObject({ code: "usage-invalid" });
  });

  it.each(["short", "has a space in the middle", "ends with a line\n", "ünïcödé-ünïcödé-ünïcödé"])(
    "refuses PLUGBOARD_TOKEN=%j without repeating it",
    async (given) => {
      const box = createSandbox();
      box.env = { ...box.env, PLUGBOARD_TOKEN: given };
      const error = await (await openIn(box)).gatewayToken().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "usage-invalid" });
      expect(JSON.stringify(error)).not.toContain(given);
    },
  );

  it.each([
    [
      "that others can read",
      (file: string) => chmodSync(file, 0o644),
      /accessible to other users \(mode 644\)/,
    ],
    [
      "in a folder that others can enter",
      (file: string) => chmodSync(dirname(file), 0o755),
      /accessible to other/,
    ],
    [
      "that is a link",
      (file: string) => {
        writeFileSync(`${file}-elsewhere`, readFileSync(file), { mode: 0o600 });
        rmSync(file);
        symlinkSync(`${file}-elsewhere`, file);
      },
      /symbolic link/,
    ],
    [
      "with something else in it",
      (file: string) => writeFileSync(file, "hello\n"),
      /does not contain a token/,
    ],
  ])("refuses a file %s, and says what to do", async (_, spoil, message) => {
    const box = createSandbox();
    const workspace = await openIn(box);
    const { token } = await workspace.gatewayToken();
    spoil(box.path(place));
    const error = (await workspace.gatewayToken().catch((reason: unknown) => reason)) as Error & {
      hint: string;
    };
    expect(error).toMatchObject({ code: "store-unavailable" });
    expect(error.message).toMatch(message);
    expect(error.hint).not.toBe("");
    expect(`${error.message}${error.hint}`).not.toContain(token);
  });

  it("names the folder if it cannot be stored, and offers the variable", async () => {
    const box = createSandbox();
    mkdirSync(dirname(dirname(dirname(box.path(place)))), { recursive: true });
    writeFileSync(dirname(dirname(box.path(place))), "a file where the folder should be");
    const error = await (await openIn(box)).gatewayToken().catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining(box.path(place)) as string,
      hint: expect.stringContaining("PLUGBOARD_TOKEN") as string,
    });
  });
});
