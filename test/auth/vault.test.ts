import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeKeychain, filesWith, openVault, vaultFolder } from "./vault-fixture.ts";

const tokens = "tokens/https://one.example/mcp|https://login.example|default";

describe("M72 the vault", () => {
  it("returns what was set, in every process, and nothing for other names", async () => {
    const folder = vaultFolder();
    const value = { access_token: "a".repeat(16_000), expiresAt: 5, note: "ünï\ncode" };
    expect(await openVault({ folder }).set(tokens, value)).toBe("file");
    const vault = openVault({ folder });
    expect(await vault.get(tokens)).toEqual(value);
    for (const other of [
      "tokens/https://one.example/mcp|https://login.example|work",
      "tokens/https://one.example/mcp|https://other.example|default",
      "tokens/https://two.example/mcp|https://login.example|default",
      "secret/x",
    ])
      expect(await vault.get(other)).toBeUndefined();
    expect(await vault.delete(tokens)).toBe(true);
    expect(await vault.delete(tokens)).toBe(false);
    expect(await openVault({ folder }).get(tokens)).toBeUndefined();
  });

  it("reports whether a record can be replaced, and does not change it", async () => {
    const folder = vaultFolder();
    const chain = new FakeKeychain();
    await openVault({ folder, now: () => 1000 }).set(tokens, "v");
    const vault = openVault({ folder, keychain: chain.open() });
    expect(await vault.assertReplaceable(tokens)).toBe("vault");
    expect(await vault.get(tokens)).toBe("v");
    expect((await vault.list("")).entries).toEqual([{ name: tokens, setAt: 1000, place: "keychain" }]);
    expect(await vault.assertReplaceable("secret/A")).toBe("vault");
    expect(await vault.get("secret/A")).toBeUndefined();
    chain.isLocked = true;
    const later = openVault({ folder, keychain: chain.open() });
    await expect(later.assertReplaceable(tokens)).rejects.toMatchObject({ data: { reason: "locked" } });
  });

  it("creates no file when it is only read", async () => {
    const folder = vaultFolder();
    const vault = openVault({ folder });
    expect(await vault.get("secret/A")).toBeUndefined();
    expect(await vault.list("")).toEqual({ entries: [], problems: [] });
    expect(await vault.delete("secret/A")).toBe(false);
    expect(await vault.assertReplaceable("secret/A")).toBe("vault");
    expect(existsSync(dirname(folder))).toBe(false);
  });

  it("lists names and times by prefix, never values", async () => {
    const folder = vaultFolder();
    let at = 1000;
    const vault = openVault({ folder, now: () => at++ });
    for (const name of ["secret/B", "secret/A", tokens]) await vault.set(name, "v");
    expect(await vault.list("secret/")).toEqual({
      entries: [
        { name: "secret/A", setAt: 1001, place: "file" },
        { name: "secret/B", setAt: 1000, place: "file" },
      ],
      problems: [],
    });
  });

  it("writes no plain names or values, and only this user can read its files", async () => {
    const folder = vaultFolder();
    const vault = openVault({ folder });
    await vault.set("secret/CANARY_NAME", "canary-value-1");
    await vault.set("secret/CANARY_NAME", { deep: ["canary-value-2"] });
    expect(filesWith(dirname(folder), ["CANARY_NAME", "canary-value"])).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it("uses a new nonce for every write", async () => {
    const folder = vaultFolder();
    const vault = openVault({ folder });
    const nonces = new Set<string>();
    for (let turn = 0; turn < 20; turn++) {
      await vault.set("secret/A", "same");
      for (const nonce of readFileSync(vault.path, "utf8").match(/"nonce": "[^"]+"/g) ?? [])
        nonces.add(nonce);
    }
    expect(nonces.size).toBe(20);
  });

  it("never returns another name's record, even if they are swapped in the file", async () => {
    const folder = vaultFolder();
    const vault = openVault({ folder });
    await vault.set("secret/A", "of A");
    await vault.set("secret/B", "of B");
    const document = JSON.parse(readFileSync(vault.path, "utf8")) as { records: Record<string, unknown> };
    const [[one, first], [two, second]] = Object.entries(document.records) as [
      [string, object],
      [string, object],
    ];
    document.records = { [one]: second, [two]: first };
    writeFileSync(vault.path, JSON.stringify(document));
    for (const name of ["secret/A", "secret/B"])
      await expect(vault.get(name)).rejects.toMatchObject({ data: { reason: "corrupt" } });
    expect((await vault.list("")).problems).toHaveLength(2);
    await vault.set("secret/A", "anew");
    expect(await vault.get("secret/A")).toBe("anew");
  });

  it("accepts any JSON value and any name", async () => {
    const folder = vaultFolder();
    const vault = openVault({ folder });
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.jsonValue(), async (name, value) => {
        await vault.set(name, value);
        expect(await vault.get(name)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 30 },
    );
    await expect(vault.set("secret/A", undefined)).rejects.toMatchObject({ code: "usage-invalid" });
  });
});

describe("M72 no secret is lost when the key's place changes", () => {
  it("finds every key where it was stored, while a keychain appears, locks and disappears", async () => {
    const folder = vaultFolder();
    const chain = new FakeKeychain();
    expect(await openVault({ folder }).set("secret/BEFORE", 1)).toBe("file");
    expect(await openVault({ folder, keychain: chain.open() }).set("secret/WITH", 2)).toBe("keychain");
    const env = { PLUGBOARD_VAULT_PASSPHRASE: "correct horse" };
    expect(await openVault({ folder, env }).set("secret/CI", 3)).toBe("passphrase");

    const all = openVault({ folder, env, keychain: chain.open() });
    expect(await Promise.all(["BEFORE", "WITH", "CI"].map((name) => all.get(`secret/${name}`)))).toEqual([
      1, 2, 3,
    ]);
    expect((await all.list("secret/")).entries.map(({ place }) => place)).toEqual([
      "file",
      "passphrase",
      "keychain",
    ]);

    chain.isLocked = true;
    for (const keychain of [chain.open(), undefined]) {
      const vault = openVault({ folder, keychain });
      expect(await vault.get("secret/BEFORE")).toBe(1);
      for (const name of ["secret/WITH", "secret/CI"])
        await expect(vault.get(name)).rejects.toMatchObject({
          code: "store-unavailable",
          data: { reason: "locked" },
        });
      expect(await vault.set("secret/MEANWHILE", 4)).toBe("file");
      const { entries, problems } = await vault.list("");
      expect([entries.length, problems.length]).toEqual([2, 2]);
    }

    chain.isLocked = false;
    const again = openVault({ folder, keychain: chain.open() });
    expect(await again.get("secret/WITH")).toBe(2);
    expect(await again.get("secret/MEANWHILE")).toBe(4);
    expect(await again.set("secret/BEFORE", 5)).toBe("keychain");
    expect(chain.entries.size).toBe(1);
  });

  it("works in the same process as soon as the keychain is unlocked", async () => {
    const folder = vaultFolder();
    const chain = new FakeKeychain();
    await openVault({ folder, keychain: chain.open() }).set("secret/A", "v");
    chain.isLocked = true;
    const vault = openVault({ folder, keychain: chain.open() });
    await expect(vault.get("secret/A")).rejects.toMatchObject({ data: { reason: "locked" } });
    chain.isLocked = false;
    expect(await vault.get("secret/A")).toBe("v");
  });

  it("replaces and removes a locked record without its key", async () => {
    const folder = vaultFolder();
    const chain = new FakeKeychain();
    const open = openVault({ folder, keychain: chain.open() });
    await open.set("secret/A", "old");
    await open.set("secret/B", "old");
    const without = openVault({ folder });
    await without.set("secret/A", "new");
    expect(await without.get("secret/A")).toBe("new");
    expect(await without.delete("secret/B")).toBe(true);
    expect(await open.get("secret/B")).toBeUndefined();
  });

  it("keeps nothing under a key file that was deleted while this process knew it", async () => {
    const folder = vaultFolder();
    const vault = openVault({ folder });
    await vault.set("secret/OLD", "old");
    rmSync(join(folder, "vault.key"));
    await vault.set("secret/NEW", "new");
    expect(await openVault({ folder }).get("secret/NEW")).toBe("new");
    await expect(openVault({ folder }).get("secret/OLD")).rejects.toMatchObject({
      data: { reason: "wrong-key" },
    });
  });

  it("says when the keychain has lost the key, and keeps new secrets under a new one", async () => {
    const folder = vaultFolder();
    const chain = new FakeKeychain();
    await openVault({ folder, keychain: chain.open() }).set("secret/A", "v");
    const [[account, key]] = [...chain.entries] as [[string, string]];
    chain.entries.clear();
    const vault = openVault({ folder, keychain: chain.open() });
    await expect(vault.get("secret/A")).rejects.toMatchObject({ data: { reason: "key-missing" } });
    expect(await vault.set("secret/B", "w")).toBe("keychain");
    chain.entries.set(account, key);
    expect(await vault.get("secret/A")).toBe("v");
    expect(await openVault({ folder, keychain: chain.open() }).get("secret/B")).toBe("w");
  });

  it("refuses a wrong passphrase and does not change the file", async () => {
    const folder = vaultFolder();
    const right = { PLUGBOARD_VAULT_PASSPHRASE: "right" };
    const first = openVault({ folder, env: right });
    await first.set("secret/A", "v");
    const before = readFileSync(first.path, "utf8");
    const wrong = openVault({ folder, env: { PLUGBOARD_VAULT_PASSPHRASE: "wrong" } });
    const refusal = { code: "store-unavailable", data: { reason: "wrong-key" } };
    await expect(wrong.get("secret/A")).rejects.toMatchObject(refusal);
    await expect(wrong.set("secret/A", "w")).rejects.toMatchObject(refusal);
    expect(readFileSync(first.path, "utf8")).toBe(before);
    expect(await openVault({ folder, env: right }).get("secret/A")).toBe("v");
    expect(existsSync(join(folder, "vault.key"))).toBe(false);
  });
});
