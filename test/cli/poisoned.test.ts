import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { corpus, honestTools } from "../fixtures/poisoned/corpus.ts";
import type { Poisoned } from "../fixtures/poisoned/corpus.ts";
import { createSandbox } from "../sandbox.ts";

const program = join(import.meta.dirname, "../fixtures/programs/changing.mjs");

/** Nothing but text, line breaks, and emoji that are made of several parts. */
const harmless =
  /^(?:[\n\x20-\x7e]|[^\p{Control}\p{Format}\p{Surrogate}\p{Line_Separator}\p{Paragraph_Separator}\u{fe00}-\u{fe0e}\u{e0000}-\u{e0fff}])*$/u;

function withPoison({ tool, prompt, template, instructions }: Poisoned) {
  const box = createSandbox();
  const file = box.write("bad.json", {
    instructions,
    tools: tool ? [tool] : [],
    prompts: prompt ? [prompt] : [],
    resourceTemplates: template ? [template] : [],
  });
  const honest = box.write("honest.json", { tools: honestTools });
  const entry = (offer: string) => ({ command: process.execPath, args: [program, offer] });
  box.write("home/.config/plugboard/config.json", {
    mcpServers: { bad: entry(file), honest: entry(honest) },
  });
  return box;
}

describe("M52 a poisoned definition does nothing to the terminal, and is flagged", () => {
  it.for(corpus.map((one) => [one.attack, one] as const))("that %s", async ([, poisoned]) => {
    const { tool, flag, says } = poisoned;
    const box = withPoison(poisoned);
    const name = typeof tool?.["name"] === "string" ? tool["name"] : undefined;
    const screen = { columns: 100, rows: 40 };
    const runs = {
      lock: await box.cli(["lock", "--yes"]),
      verify: await box.cli(["verify"]),
      tools: await box.cli(["tools", "--all"]),
      doctor: await box.cli(["doctor"]),
      ...(name !== undefined && {
        tool: await box.cli(["tools", `bad.${name}`]),
        explain: await box.cli(["explain", `bad.${name}`]),
      }),
    };
    for (const [command, { out, err }] of Object.entries(runs)) {
      expect(out, command).toMatch(harmless);
      expect(err, command).toMatch(harmless);
      if (command !== "tools")
        expect(out.replaceAll(/\n *(?:! )?/g, " "), command).toContain(says ?? "hidden characters");
    }
    const drawn = await box.cli(["verify"], { screen });
    expect(drawn.out).toContain("! ");
    const json = await box.cli(["verify", "--json"]);
    expect(json.out).toMatch(harmless);
    expect(json.json).toMatchObject({
      ok: true,
      servers: [{ flags: expect.arrayContaining([expect.objectContaining({ flag })]) }, {}],
    });
    expect(box.read("home/.config/plugboard/plugboard.lock")).toMatch(harmless);
  });

  it("and honest definitions are not flagged", async () => {
    const box = withPoison({
      attack: "none",
      flag: "hidden-characters",
      tool: {
        name: "search_all",
        description:
          "Searches. 👩‍👩‍👧 Use search with care, ❤️ for messages; naïve, 日本語.\n\tSend messages later.",
        inputSchema: { type: "object" },
      },
    });
    const { json } = await box.cli(["lock", "--yes", "--json"]);
    expect(json).toMatchObject({ servers: [{ flags: [] }, { flags: [] }] });
  });
});
