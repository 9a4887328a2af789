import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printReferences } from "../../../src/config/formats/references.ts";
import { parseTemplate } from "../../../src/config/template.ts";
import { cases } from "./cases/index.ts";
import { context, formatOf } from "./read-fixture.ts";

describe("M10 variables in other clients' files", () => {
  it.each([
    ["claude-code", "${A}/${B:-c}", "${A}/${B:-c}"],
    ["claude-code", "${A:-${B}}", "${A:-${B}}"],
    ["claude-code", "$A %A% ${env:A}", "$A %A% $${env:A}"],
    ["cursor", "${env:A} ${userHome} ${A}", "${A} ${HOME} $${A}"],
    ["cursor", "${workspaceFolder}/src", "/home/ada/app/src"],
    ["vscode", "${input:my-key}", "${secret:my-key}"],
    ["vscode", "${config:editor.x}", "$${config:editor.x}"],
    ["windsurf", "${file:~/token}", "${file:~/token}"],
    ["gemini", "$A ${A} %A% ${A:-b}", "${A} ${A} ${A} ${A:-b}"],
    ["continue", "${{ secrets.A }} ${{inputs.B}}", "${secret:A} ${secret:B}"],
    ["mcporter", "$env:A ${B:-c}", "${A} ${B:-c}"],
    ["manifest", "Bearer ${A}", "Bearer ${secret:A}"],
    ["codex", "${A} $A", "$${A} $A"],
    ["claude-desktop", "$${A}", "$$${A}"],
  ])("%s means by %s what we write as %s", (id, theirs, ours) => {
    const { document, entry } = cases.find((one) => one.id === id)!;
    const named = id === "continue" ? { mcpServers: [{ name: "a", ...entry, args: [theirs] }] } : undefined;
    const [server] = formatOf(id).read(named ?? document({ ...entry, args: [theirs] }), context()).servers;
    expect(server?.config.args).toEqual([ours]);
  });

  it("keeps a project file's working folder relative, so that it works in any checkout", () => {
    const document = {
      servers: { db: { command: "x", cwd: "${workspaceFolder}", args: ["${workspaceFolder}"] } },
    };
    const [server] = formatOf("vscode").read(document, context({ scope: "project" })).servers;
    expect(server?.config).toEqual({ command: "x", cwd: ".", args: ["/home/ada/app"] });
  });

  it("warns when a `$` before a variable would turn it into plain text", () => {
    const [server] = formatOf("gemini").read(
      { mcpServers: { a: { command: "x", args: ["$${A}"] } } },
      context(),
    ).servers;
    expect(server?.notes).toEqual([expect.objectContaining({ kind: "lost", field: "args[0]" })]);
  });

  it("never expands plain text", () => {
    const pieces = fc.constantFrom("$", "{", "}", "${", "$${", "A", "${A}", "${secret:A}", ":-", " ");
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1 }), (words) => {
        const plain = words.join("");
        expect(parseTemplate(printReferences([plain])!)).toEqual([plain]);
      }),
    );
  });
});
