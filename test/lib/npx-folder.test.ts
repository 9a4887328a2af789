import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { incompleteNpxFolder, isNpxFolder, npmCache, npxPackages } from "../../src/lib/npx/folder.ts";
import { deleteNpxFolder } from "../../src/lib/npx/repair.ts";
import { createSandbox } from "../sandbox.ts";

const folder = "/home/ada/.npm/_npx/52bc17386a630c3e";

describe("M20 the folder that a program's last words name as incomplete", () => {
  it.each([
    `Error: Cannot find module './lib/a.js'\nRequire stack:\n- ${folder}/node_modules/part/index.js`,
    `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${folder}/node_modules/notes/main.js`,
    `Error [ERR_MODULE_NOT_FOUND]: Cannot find module '${folder}/node_modules/a/b.js' imported from file://${folder}/node_modules/c/d.js`,
    `Error: ENOENT: no such file or directory, open '${folder}/node_modules/notes/package.json'`,
    `Error [ERR_INVALID_PACKAGE_CONFIG]: Invalid package config ${folder}/node_modules/part/package.json.`,
    `${folder}/node_modules/part/index.js:12\n\nSyntaxError: Unexpected end of input`,
    `npm error code ENOTEMPTY\nnpm error ENOTEMPTY: directory not empty, rename '${folder}/node_modules/a' -> '${folder}/node_modules/.a-x1'`,
  ])("%s", (words) => {
    expect(incompleteNpxFolder(words)).toBe(folder);
  });

  it.each([
    ["a path with spaces", `Cannot find module '/home/ada b/.npm/_npx/52bc17386a630c3e/node_modules/a/x.js'`],
    [
      "a path of Windows",
      `Cannot find module 'C:\\ada\\npm-cache\\_npx\\52bc17386a630c3e\\node_modules\\a.js'`,
    ],
  ])("in %s", (_, words) => {
    expect(incompleteNpxFolder(words)).toMatch(/^(?:\/home\/ada b|C:\\ada).*52bc17386a630c3e$/);
  });

  it.each([
    ["a module of the person's own", "Error: Cannot find module '/home/ada/project/server.js'"],
    ["another kind of error", `TypeError: x is not a function\n    at ${folder}/node_modules/a/b.js:1:2`],
    ["a folder of another form", "Cannot find module '/home/ada/_npx/documents/a.js'"],
  ])("nothing for %s", (_, words) => {
    expect(incompleteNpxFolder(words)).toBeUndefined();
  });
});

describe("M20 npm's folders", () => {
  it("are where the environment or an .npmrc says, and unknown where only npm can tell", async () => {
    const box = createSandbox();
    const place = { folder: box.project, home: box.home, env: {} };
    expect(await npmCache(place)).toBe(join(box.home, ".npm"));
    box.write("home/.npmrc", "cache = ~/of-npm\n");
    expect(await npmCache(place)).toBe(join(box.home, "of-npm"));
    expect(await npmCache({ ...place, env: { NPM_CONFIG_CACHE: "/var/npm" } })).toBe("/var/npm");
    box.write("project/.npmrc", "cache=${CACHE}/npm\n");
    expect(await npmCache(place)).toBeUndefined();
  });

  it("belong to npx only if they are its own folders, not links to others", async () => {
    const box = createSandbox();
    const cache = box.path("cache");
    const own = join(cache, "_npx", "52bc17386a630c3e");
    mkdirSync(own, { recursive: true });
    expect(await isNpxFolder(own, cache)).toBe(true);
    expect(await isNpxFolder(join(cache, "_npx"), cache)).toBe(false);
    expect(await isNpxFolder(own, box.home)).toBe(false);
    expect(await isNpxFolder(join(own, "../../_npx/52bc17386a630c3e"), cache)).toBe(true);
    const linked = join(cache, "_npx", "0123456789abcdef");
    symlinkSync(box.project, linked);
    expect(await isNpxFolder(linked, cache)).toBe(false);
    symlinkSync(join(cache, "_npx"), join(box.home, "_npx"));
    expect(await isNpxFolder(join(box.home, "_npx", "52bc17386a630c3e"), box.home)).toBe(false);
  });

  it("are not deleted if they lead to another folder by then", async () => {
    const box = createSandbox({ "other/_npx/52bc17386a630c3e/kept.txt": "kept" });
    const cache = box.path("cache");
    const own = join(cache, "_npx", "52bc17386a630c3e");
    mkdirSync(join(own, "node_modules"), { recursive: true });
    renameSync(join(cache, "_npx"), join(cache, "_aside"));
    symlinkSync(box.path("other/_npx"), join(cache, "_npx"));
    expect(await deleteNpxFolder(own, cache)).toEqual({ isDeleted: false, users: [] });
    expect(box.read("other/_npx/52bc17386a630c3e/kept.txt")).toBe("kept");
    rmSync(join(cache, "_npx"));
    renameSync(join(cache, "_aside"), join(cache, "_npx"));
    expect(await deleteNpxFolder(own, cache)).toEqual({ isDeleted: true, users: [] });
    expect(existsSync(own)).toBe(false);
  });

  it("are named after the packages on the command line", () => {
    expect(npxPackages(["-y", "notes", "--port=1"])).toMatchObject({ packages: ["notes"], command: "notes" });
    expect(npxPackages(["-p", "a", "--package=b", "run"])).toMatchObject({
      packages: ["a", "b"],
      command: "run",
    });
    expect(npxPackages(["--weird", "notes"])).toHaveProperty("problem");
  });
});
