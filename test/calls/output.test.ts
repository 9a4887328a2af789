import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolResult } from "../../src/calls/content/parts.ts";
import { boundOutput, type OutputPolicy } from "../../src/calls/output/output.ts";
import { weigh } from "../../src/calls/output/weigh.ts";
import { fastest } from "../processor-time.ts";
import { tokenSamples } from "./token-samples.ts";

const handle = "r_abcdefghijklmnopqrst";
const policy: OutputPolicy = { warnTokens: 100, maxTokens: 400, media: "keep" };
const marker =
  /… [\d,]+ of [\d,]+ tokens left out(?: \(\d+ parts?\))?; read the rest with result handle r_\w{20} …/;

const text = (value: string) => ({ type: "text", text: value });
const image = (bytes = 12_000) => ({
  type: "image",
  data: "A".repeat((bytes * 4) / 3),
  mimeType: "image/png",
});
const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index} of the report`).join("\n");
const texts = (result: ToolResult) => (result.content as { text?: string }[]).map((part) => part.text);

async function bound(result: ToolResult, change: Partial<OutputPolicy> = {}) {
  const kept: unknown[] = [];
  const keep = async (whole: unknown) => {
    kept.push(whole);
    return handle;
  };
  const bounded = await boundOutput(result, { ...policy, ...change }, keep);
  return { ...bounded, kept };
}

describe("M45 results within the limit", () => {
  it.each<[string, ToolResult]>([
    ["a text", { content: [text("short")] }],
    ["structured content only", { structuredContent: { a: 1 } }],
    ["nothing", {}],
    ["content that is no list", { content: "text" }],
    [
      "unknown parts and fields",
      { content: [{ type: "hologram" }, null], isError: true, extra: 1 } as ToolResult,
    ],
  ])("pass on the very same object for %s", async (_, result) => {
    const bounded = await bound(result);
    expect(bounded.result).toBe(result);
    expect(bounded.note).toBeUndefined();
    expect(bounded.kept).toEqual([]);
  });

  it("get a note above the warning limit, and nothing else changes", async () => {
    const result = { content: [text(lines(30))], _meta: { own: 1 } };
    const { result: bounded, note } = await bound(result);
    expect(note).toEqual({ tokens: expect.any(Number), cut: false });
    expect(bounded).toEqual({ ...result, _meta: { own: 1, "plugboard/output": note } });
  });

  it("count structured content once when the text only repeats it", async () => {
    const rows = Array.from({ length: 25 }, (_, id) => ({ id, name: `item ${id}` }));
    const result = { content: [text(JSON.stringify({ rows }, null, 2))], structuredContent: { rows } };
    const { total } = weigh(result);
    expect(weigh({ content: result.content }).total).toBe(total);
    const { result: bounded } = await bound(result, { maxTokens: total });
    expect(bounded).toMatchObject({ ...result, _meta: { "plugboard/output": { cut: false } } });
  });
});

describe("M45 results above the limit", () => {
  it("are cut to head, marker and tail at line ends, and kept whole under a handle", async () => {
    const whole = {
      content: [{ ...text(lines(500)), annotations: { priority: 1 } }],
      isError: true,
      other: 7,
    };
    const { result, note, kept } = await bound(whole);
    expect(kept).toEqual([whole]);
    expect(result).toMatchObject({ isError: true, other: 7, content: [{ annotations: { priority: 1 } }] });
    expect(note).toMatchObject({ cut: true, handle });
    expect(result._meta).toEqual({ "plugboard/output": note });
    const [head, tail] = (texts(result)[0] ?? "").split(marker);
    expect(head).toMatch(/^line 0 of the report\n[^]*report\n$/);
    expect(tail).toMatch(/^\nline \d+ of the report\n[^]*line 499 of the report$/);
  });

  it("keep short texts before and after a huge one, and say how many parts were dropped", async () => {
    const { result } = await bound({
      content: [text("first"), text(lines(300)), text(lines(300)), text(lines(300)), text("last")],
    });
    const shown = texts(result);
    expect([shown[0], shown.at(-1)]).toEqual(["first", "last"]);
    expect(shown).toHaveLength(4);
    expect(shown[1]).toMatch(/left out \(1 part\)/);
  });

  it("cut embedded texts inside their resource", async () => {
    const { result } = await bound({
      content: [
        { type: "resource", resource: { uri: "file:///log", mimeType: "text/plain", text: lines(500) } },
      ],
    });
    expect(result.content).toMatchObject([
      {
        type: "resource",
        resource: { uri: "file:///log", mimeType: "text/plain", text: expect.stringMatching(marker) },
      },
    ]);
  });

  it("drop mirrored structured content together with its text, never only one of them", async () => {
    const rows = Array.from({ length: 500 }, (_, id) => ({ id }));
    const { result, note } = await bound({
      content: [text(JSON.stringify({ rows }))],
      structuredContent: { rows },
    });
    expect(result).not.toHaveProperty("structuredContent");
    expect(note).toMatchObject({ structuredContent: "dropped", handle });
    expect(texts(result)[0]).toMatch(marker);
  });

  it("show structured content as text if it is too large and there is no text", async () => {
    const { result } = await bound({
      structuredContent: { rows: Array.from({ length: 500 }, (_, id) => ({ id })) },
    });
    expect(result).not.toHaveProperty("structuredContent");
    expect(texts(result)).toEqual([expect.stringMatching(/^\{\n "rows": \[\n[^]*… .* left out[^]*\]\n\}$/)]);
  });

  it("keep a summary whole and show as much of large structured content as fits", async () => {
    const { result } = await bound({
      content: [text("500 rows")],
      structuredContent: { rows: Array.from({ length: 500 }, (_, id) => ({ id })) },
    });
    expect(texts(result)).toEqual(["500 rows", expect.stringMatching(marker)]);
  });

  it("keep a few structured fields beside a huge text", async () => {
    const { result } = await bound({ content: [text(lines(500))], structuredContent: { ok: true } });
    expect(result.structuredContent).toEqual({ ok: true });
  });

  it("say so if the whole result could not be stored, and are returned anyway", async () => {
    const { result, note } = await boundOutput({ content: [text(lines(500))] }, policy, async () => {
      throw new Error("disk full");
    });
    expect(note).toEqual({ tokens: expect.any(Number), cut: true, notKept: "disk full" });
    expect(texts(result)[0]).toContain("the rest was not kept");
  });

  it("keep the other `_meta` of the server", async () => {
    const { result } = await bound({ content: [text(lines(500))], _meta: { "their/key": 1 } });
    expect(result._meta).toMatchObject({ "their/key": 1, "plugboard/output": { cut: true } });
  });
});

describe("M46 media in results", () => {
  it("are kept if they fit, and leave at least half of the budget to text", async () => {
    const { result, note } = await bound({ content: [image(), text(lines(2000))] }, { maxTokens: 4000 });
    expect(result.content).toMatchObject([image(), { text: expect.stringMatching(marker) }]);
    expect(note).not.toHaveProperty("droppedMedia");
  });

  it("are replaced by their type and size if they do not fit", async () => {
    const { result, note } = await bound({ content: [text("see"), image()] });
    expect(texts(result)).toEqual([
      "see",
      "[image image/png 12 KB: left out]",
      expect.stringMatching(marker),
    ]);
    expect(note).toMatchObject({ droppedMedia: 1, handle });
  });

  it("are dropped if the policy says so, and nothing else changes", async () => {
    const { result, kept } = await bound(
      { content: [text("see"), image()] },
      { maxTokens: 9000, media: "drop" },
    );
    expect(texts(result)).toEqual(["see", "[image image/png 12 KB: left out]"]);
    expect(kept).toHaveLength(1);
  });

  it("count an image the same at any normal size, and a huge one as too large", async () => {
    expect(weigh({ content: [image(300)] }).total).toBe(weigh({ content: [image(1_200_000)] }).total);
    expect((await bound({ content: [image(30_000_000)] }, { maxTokens: 25_000 })).note).toMatchObject({
      droppedMedia: 1,
    });
  });

  it("pass on invalid base64 and wrong types unchanged", async () => {
    const result = {
      content: [
        { type: "image", data: "%%%", mimeType: "nonsense" },
        { type: "audio", data: "" },
      ],
    };
    expect((await bound(result, { maxTokens: 9000, warnTokens: 9000 })).result).toBe(result);
  });

  it("do not flood a result with placeholders", async () => {
    const { result, note } = await bound({ content: Array.from({ length: 10_000 }, () => image(300)) });
    expect((result.content as unknown[]).length).toBeLessThan(60);
    expect(note).toMatchObject({ droppedMedia: 10_000 });
  });
});

describe("M45 bounding anything", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 3000 }),
    fc.string({ unit: "grapheme", maxLength: 1500 }),
    fc.array(fc.lorem({ maxCount: 12 }), { maxLength: 100 }).map((all) => all.join("\n")),
    fc.integer({ min: 0, max: 5000 }).map((length) => "👨‍👩‍👧e\u0301\r\n".repeat(length / 8)),
  );
  const anyPart = fc.oneof(
    { weight: 4, arbitrary: anyText.map(text) },
    fc.nat(100_000).map(image),
    anyText.map((value) => ({ type: "resource", resource: { uri: "x:1", text: value } })),
    fc.constant({ type: "resource_link", uri: "x:2", name: "two" }),
    fc.jsonValue(),
  );
  const anyResult = fc.record(
    {
      content: fc.array(anyPart, { maxLength: 12 }),
      structuredContent: fc.jsonValue(),
      isError: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const anyPolicy = fc.record({
    warnTokens: fc.nat(500),
    maxTokens: fc.integer({ min: 1, max: 3000 }),
    media: fc.constantFrom("keep" as const, "drop" as const),
  });

  it("never exceeds the limit by more than a line", async () => {
    await fc.assert(
      fc.asyncProperty(anyResult, anyPolicy, async (whole, limits) => {
        const before = structuredClone(whole);
        const { result } = await boundOutput(whole, limits, async () => handle);
        expect(weigh(result).total).toBeLessThanOrEqual(limits.maxTokens + 64);
        expect(whole).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });

  it("shows the start and the end of the text, and never splits a character", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.integer({ min: 1, max: 500 }), async (whole, maxTokens) => {
        const { result, note } = await boundOutput(
          { content: [text(whole)] },
          { ...policy, maxTokens },
          async () => handle,
        );
        if (!note?.cut) return;
        const [head = "", tail = ""] = (texts(result)[0] ?? "").split(marker);
        expect(whole.startsWith(head) || whole.startsWith(head.slice(0, -1))).toBe(true);
        expect(whole.endsWith(tail) || whole.endsWith(tail.slice(1))).toBe(true);
        if (whole.isWellFormed()) expect([head, tail].every((half) => half.isWellFormed())).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each(["🏽", "👨‍👩‍👧", "e\u0301", "漢", "x", " "])(
    "cuts 50 MB of %j in well under a second",
    async (piece) => {
      const whole = { content: [text(piece.repeat(Math.ceil(50_000_000 / piece.length)))] };
      const cut = () => boundOutput(whole, { ...policy, maxTokens: 25_000 }, async () => handle);
      expect(await fastest(700, cut)).toBeLessThan(1000);
      const { result } = await cut();
      const [head = "", tail = ""] = (texts(result)[0] ?? "").split(marker);
      expect(head.trimEnd().length % piece.trim().length || 0).toBe(0);
      expect(tail.trimStart().length % piece.trim().length || 0).toBe(0);
    },
  );

  it("handles many parts in linear time", async () => {
    const part = text(tokenSamples["English prose"]?.text ?? "");
    const whole = { content: Array.from({ length: 20_000 }, () => part) };
    expect(await fastest(1000, () => bound(whole))).toBeLessThan(1500);
    const { result } = await bound(whole);
    expect(weigh(result).total).toBeLessThanOrEqual(464);
  });
});
