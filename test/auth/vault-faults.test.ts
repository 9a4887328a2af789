import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeKeychain, openVault, vaultFolder } from "./vault-fixture.ts";

const isRoot = process.getuid?.() === 0;

async function filledVault() {
  const folder = vaultFolder();
  const vault = openVault({ folder });
  await vault.set("secret/A", "v");
  return { folder, path: vault.path, key: join(folder, "vault.key"), text: readFileSync(vault.path, "utf8") };
}

describe("M72 a damaged vault is moved aside, never silently reset", () => {
  const damages: [string, (text: string) => string][] = [
    ["empty", () => ""],
    ["cut in half", (text) => text.slice(0, text.length / 2)],
    ["zeroed", (text) => "\0".repeat(text.length)],
    ["another program's JSON", () => '{"a": 1}'],
    ["a name damaged", (text) => text.replace(/"([0-9a-f]{63})[0-9a-f]"/, '"$1x"')],
    ["without records", () => '{"version": 1, "keys": {}}'],
    ["a record without data", () => '{"version": 1, "keys": {}, "records": {"x": {"key": "k"}}}'],
  ];
  it.each(damages)("%s: moved away whole, with one warning, and usable again", async (_name, damage) => {
    const { folder, path, text } = await filledVault();
    writeFileSync(path, damage(text));
    const vault = openVault({ folder, now: () => 0 });
    const answers = await Promise.all([vault.get("secret/A"), vault.get("secret/B"), vault.list("")]);
    expect(answers).toEqual([undefined, undefined, { entries: [], problems: [] }]);
    const aside = join(folder, "vault.corrupt-19700101T000000000Z");
    expect(readFileSync(aside, "utf8")).toBe(damage(text));
    expect(vault.warnings).toEqual([expect.stringContaining(aside)]);
    expect(await vault.set("secret/A", "again")).toBe("file");
    // The key was kept, so a repaired copy still opens.
    writeFileSync(path, text, { mode: 0o600 });
    expect(await openVault({ folder }).get("secret/A")).toBe("v");
  });

  it("a newer version is refused and not changed", async () => {
    const { folder, path, text } = await filledVault();
    const newer = text.replace('"version": 1', '"version": 2');
    writeFileSync(path, newer);
    const vault = openVault({ folder });
    const refusal = { code: "store-unavailable", data: { reason: "newer" } };
    await expect(vault.get("secret/A")).rejects.toMatchObject(refusal);
    await expect(vault.set("secret/A", "w")).rejects.toMatchObject(refusal);
    await expect(vault.delete("secret/A")).rejects.toMatchObject(refusal);
    expect(readFileSync(path, "utf8")).toBe(newer);
  });

  it("every flipped byte is noticed: no wrong value, no lost file", async () => {
    const { folder, path, text } = await filledVault();
    for (let at = 0; at < text.length; at += 7) {
      const bytes = Buffer.from(text);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(path, bytes);
      const answer = await openVault({ folder })
        .get("secret/A")
        .catch((error: { code: string }) => error.code);
      expect([undefined, "v", "store-unavailable"]).toContain(answer);
      expect(existsSync(path)).toBe(answer !== undefined);
      const kept = readdirSync(folder).filter(
        (name) => name.startsWith("vault.corrupt-") || name === "vault.json",
      );
      expect(kept.length).toBeGreaterThan(0);
      for (const name of kept) rmSync(join(folder, name));
      writeFileSync(path, text, { mode: 0o600 });
    }
  });

  it("a wrong, damaged or missing key file is reported, and the vault is not changed", async () => {
    const { folder, path, key, text } = await filledVault();
    const other = await filledVault();
    const refused = async (reason: string) => {
      await expect(openVault({ folder }).get("secret/A")).rejects.toMatchObject({ data: { reason } });
      expect(readFileSync(path, "utf8")).toBe(text);
    };
    const right = readFileSync(key, "utf8");
    writeFileSync(key, readFileSync(other.key));
    await refused("wrong-key");
    await expect(openVault({ folder }).set("secret/A", "w")).rejects.toMatchObject({
      data: { reason: "wrong-key" },
    });
    writeFileSync(
      key,
      right.replace(/ (\S)(\S+)\n$/, (_all, first, rest) => ` ${first === "A" ? "B" : "A"}${rest}\n`),
    );
    await refused("wrong-key");
    writeFileSync(key, "nonsense");
    await refused("wrong-key");
    await expect(openVault({ folder }).set("secret/B", "w")).rejects.toMatchObject({
      data: { reason: "wrong-key" },
    });
    expect(readFileSync(key, "utf8")).toBe("nonsense");
    rmSync(key);
    await refused("key-missing");
    writeFileSync(key, right, { mode: 0o600 });
    expect(await openVault({ folder }).get("secret/A")).toBe("v");
  });
});

describe("M72 a vault that is not this user's alone is refused", () => {
  const make: Record<string, (path: string) => void> = {
    "readable by others": (path) => chmodSync(path, 0o644),
    "readable by the group": (path) => chmodSync(path, 0o640),
    "a symbolic link": (path) => {
      renameSync(path, `${path}.real`);
      symlinkSync(`${path}.real`, path);
    },
    "a link to nowhere": (path) => {
      rmSync(path);
      symlinkSync("/nowhere/at/all", path);
    },
    "a pipe": (path) => {
      rmSync(path);
      execFileSync("mkfifo", ["-m", "600", path]);
    },
    "a folder": (path) => {
      rmSync(path);
      mkdirSync(path, { mode: 0o700 });
    },
    // Only root can give a file away; everybody else sees the same through a file that root has.
    ...(isRoot && { "somebody else's": (path: string) => chownSync(path, 12345, 12345) }),
  };
  const cases = Object.keys(make).flatMap((what) =>
    ["vault.json", "vault.key"].map((file) => [what, file] as const),
  );
  it.each(cases)("%s: %s", async (what, file) => {
    const { folder } = await filledVault();
    make[what]?.(join(folder, file));
    const refusal = { code: "store-unavailable", data: { reason: "unsafe", path: join(folder, file) } };
    await expect(openVault({ folder }).get("secret/A")).rejects.toMatchObject(refusal);
    await expect(openVault({ folder }).set("secret/A", "w")).rejects.toMatchObject(refusal);
  });

  it("so is its folder", async () => {
    const { folder } = await filledVault();
    chmodSync(folder, 0o755);
    const vault = openVault({ folder });
    await expect(vault.get("secret/A")).rejects.toMatchObject({ data: { reason: "unsafe", path: folder } });
    await expect(vault.set("secret/A", "w")).rejects.toMatchObject({ data: { reason: "unsafe" } });
    chmodSync(folder, 0o700);
    renameSync(folder, `${folder}.real`);
    symlinkSync(`${folder}.real`, folder);
    await expect(vault.get("secret/A")).rejects.toMatchObject({ data: { reason: "unsafe" } });
  });
});

describe("M72 where nothing can be written", () => {
  it("keeps values for this process, with one warning, and leaves no key in the keychain", async () => {
    const folder = vaultFolder();
    mkdirSync(dirname(dirname(folder)), { recursive: true });
    writeFileSync(dirname(folder), "a file where the state folder should be");
    const chain = new FakeKeychain();
    for (const keychain of [undefined, chain.open()]) {
      const vault = openVault({ folder, keychain });
      expect(await vault.set("secret/A", "1")).toBe("memory");
      expect(await vault.set("secret/B", "2")).toBe("memory");
      expect(await vault.get("secret/A")).toBe("1");
      expect(await vault.assertReplaceable("secret/A")).toBe("memory");
      expect((await vault.list("")).entries.map(({ place }) => place)).toEqual(["memory", "memory"]);
      expect(await vault.delete("secret/A")).toBe(true);
      expect(await vault.get("secret/A")).toBeUndefined();
      expect(vault.warnings).toHaveLength(1);
      expect(vault.warnings.join()).not.toMatch(/secret\/|"1"/);
    }
    expect(chain.entries.size).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });
});
