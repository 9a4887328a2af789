import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolResult } from "../../src/calls/content/parts.ts";
import { createResultStore, type ReadOptions, type ResultStore } from "../../src/calls/results/store.ts";
import { estimateTokens } from "../../src/calls/output/token-estimate.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fastest } from "../processor-time.ts";

const origin = { server: "files", tool: "read" };
const text = (value: string) => ({ type: "text", text: value });
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

function setup(options: { maxBytes?: number } = {}) {
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const store = createMemoryStore({ now });
  return { clock, store, results: createResultStore(store, { now, ...options }) };
}

async function readAll(results: ResultStore, handle: string, options: ReadOptions = {}): Promise<string> {
  const first = await results.read(handle, options);
  let all = first.text;
  for (let page = 2; page <= first.pages; page++)
    all += (await results.read(handle, { ...options, page })).text;
  return all;
}

describe("M45 stored results", () => {
  it("are read page by page, split at line ends", async () => {
    const { results } = setup();
    const handle = await results.save({ content: [text(lines(2000))] }, origin);
    expect(handle).toMatch(/^r_[a-z2-7]{20}$/);
    const first = await results.read(handle, { pageTokens: 500 });
    expect(first).toMatchObject({ page: 1, server: "files", tool: "read", isIncomplete: false });
    expect(first.pages).toBeGreaterThan(5);
    expect(first.text).toMatch(/^line 1\n[^]*\n$/);
    expect(estimateTokens(first.text)).toBeLessThan(520);
    expect(await readAll(results, handle, { pageTokens: 500 })).toBe(lines(2000));
  });

  it("round-trip any text exactly, whatever the page size", async () => {
    const { results } = setup();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: "binary", maxLength: 600 }), fc.lorem({ maxCount: 200 })), {
          maxLength: 5,
        }),
        fc.integer({ min: 50, max: 400 }),
        async (values, pageTokens) => {
          const handle = await results.save({ content: values.map(text) }, origin);
          expect(await readAll(results, handle, { pageTokens })).toBe(values.join("\n"));
          for (const [part, value] of values.entries()) {
            expect(await readAll(results, handle, { part: String(part), pageTokens })).toBe(value);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("are stored in rows of limited size, even across surrogate pairs", async () => {
    const { results, store } = setup();
    const value = `x${"😀".repeat(400_000)}`;
    const handle = await results.save({ content: [text(value)] }, origin);
    const rows = await store.list(`result/${handle}/`);
    expect(rows.map((row) => String(row.value).length)).toEqual([262_144, 262_144, 262_144, 13_569]);
    expect((await results.read(handle, { pageTokens: 10_000_000 })).text).toBe(value);
  });

  it("contain media as base64 and structured content as JSON, each as a part", async () => {
    const { results } = setup();
    const whole: ToolResult = {
      content: [
        text('{"a":1}'),
        { type: "image", data: "iVBORw0K", mimeType: "image/png" },
        { type: "resource_link", uri: "x:1", name: "one" },
      ],
      structuredContent: { a: 1 },
    };
    const handle = await results.save(whole, origin);
    const read = await results.read(handle);
    expect(read.text).toBe('{"a":1}\n[image image/png 6 B: part 1]\nx:1 (one)');
    expect(read.parts).toEqual([
      { part: "0", kind: "text" },
      { part: "2", kind: "link", uri: "x:1" },
      { part: "1", kind: "image", mimeType: "image/png" },
      { part: "structured", kind: "structured" },
    ]);
    expect((await results.read(handle, { part: "1" })).text).toBe("iVBORw0K");
    expect((await results.read(handle, { part: "structured" })).text).toBe('{\n  "a": 1\n}');
    await expect(results.read(handle, { part: "9" })).rejects.toMatchObject({ code: "usage-invalid" });
  });

  it("show structured content that no text repeats", async () => {
    const { results } = setup();
    const handle = await results.save(
      { content: [text("one row")], structuredContent: { rows: [1] } },
      origin,
    );
    expect((await results.read(handle)).text).toBe('one row\n{\n  "rows": [\n    1\n  ]\n}');
  });

  it("lose only what exceeds the size limit, and say so", async () => {
    const { results } = setup({ maxBytes: 600_000 });
    const handle = await results.save({ content: [text("x".repeat(1_000_000)), text("behind")] }, origin);
    const read = await results.read(handle, { pageTokens: 10_000_000 });
    expect(read.text).toBe("x".repeat(524_288));
    expect(read.isIncomplete).toBe(true);
    expect(await results.read(handle, { part: "1" })).toMatchObject({ text: "", isIncomplete: true });
  });

  it("can only be read by their caller; others get the error for an unknown handle", async () => {
    const { results, clock, store } = setup();
    const own = await results.save({ content: [text("secret")] }, { ...origin, caller: "ann" });
    const shared = await results.save({ content: [text("shared")] }, origin);
    expect((await results.read(own, { caller: "ann" })).text).toBe("secret");
    const refusals = [
      results.read(own, { caller: "bob" }),
      results.read(own),
      results.read(shared, { caller: "ann" }),
      results.read("r_aaaaaaaaaaaaaaaaaaaa", { caller: "ann" }),
      results.read("../../x\u0000", { caller: "ann" }),
      results.read(""),
    ].map((reading) => reading.catch((error: unknown) => JSON.stringify(error)));
    const answers = new Set(await Promise.all(refusals));
    expect(answers.size).toBe(1);
    expect([...answers][0]).toContain("usage-invalid");
    expect(JSON.stringify(await store.list("result/"))).not.toContain("ann");

    clock.now += 86_400_000;
    await expect(results.read(own, { caller: "ann" })).rejects.toMatchObject({ code: "usage-invalid" });
  });

  it("reject pages that do not exist", async () => {
    const { results } = setup();
    const handle = await results.save({ content: [text("one page")] }, origin);
    for (const page of [0, 2, 1.5, Number.NaN]) {
      await expect(results.read(handle, { page })).rejects.toMatchObject({ code: "usage-invalid" });
    }
    expect(await results.read(await results.save({}, origin))).toMatchObject({
      text: "",
      page: 1,
      pages: 1,
      tokens: 0,
    });
  });
});

describe("M45 search in stored results", () => {
  const search = async (value: string, find: string, options: ReadOptions = {}) => {
    const { results } = setup();
    return results.read(await results.save({ content: [text(value)] }, origin), { find, ...options });
  };

  it("finds text ignoring case, with its line, page and context", async () => {
    const found = await search(lines(2000), "LINE 1500", { pageTokens: 1000 });
    expect(found.matches).toEqual([
      {
        line: 1500,
        column: 1,
        page: expect.any(Number),
        text: "line 1498\nline 1499\nline 1500\nline 1501\nline 1502",
      },
    ]);
    expect(found.matches?.[0]?.page).toBeGreaterThan(1);
    expect(found.text).toMatch(/^line 1500, page \d+:\nline 1498\n/);
    expect(found.more).toBe(false);
  });

  it("lets `*` stand for anything within a line", async () => {
    const value = "alpha one\nomega\nalpha two omega\nomega alpha";
    expect((await search(value, "alpha*omega")).matches?.map(({ line }) => line)).toEqual([3]);
    expect((await search(value, "*ALPHA")).matches?.map(({ line }) => line)).toEqual([1, 3, 4]);
    expect((await search(value, "(.*)")).matches).toEqual([]);
  });

  it("keeps correct positions after letters that grow in lower case", async () => {
    const found = await search("İİİİ\nİx NEEDLE", "needle");
    expect(found.matches).toMatchObject([{ line: 2, column: 4 }]);
  });

  it("shows excerpts of an extremely long line", async () => {
    const value = `${"a,".repeat(500_000)}needle${",b".repeat(500_000)}needle`;
    const found = await search(value, "needle");
    expect(found.matches).toHaveLength(2);
    expect(found.matches?.every((match) => match.text.length < 700 && match.text.startsWith("…"))).toBe(true);
  });

  it("lists at most one page and a hundred matches, and says if there are more", async () => {
    const many = await search(lines(5000), "line", { pageTokens: 100_000 });
    expect(many.matches).toHaveLength(100);
    expect(many.more).toBe(true);
    const few = await search(lines(5000), "line", { pageTokens: 200 });
    expect(few.matches!.length).toBeLessThan(20);
    expect(few.more).toBe(true);
  });

  it("finds what `indexOf` finds", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom("a", "b", "A", "\n"), maxLength: 200 }),
        fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 }),
        async (value, find) => {
          const { matches } = await search(value, find);
          const first = value.toLowerCase().indexOf(find);
          if (first === -1) expect(matches).toEqual([]);
          else {
            const before = value.slice(0, first).split("\n");
            expect(matches?.[0]).toMatchObject({
              line: before.length,
              column: (before.at(-1) ?? "").length + 1,
            });
          }
        },
      ),
    );
  });

  it.each([
    ["a long text that almost occurs", `${"a".repeat(999)}b`],
    ["stars that almost match", "a*a*a*a*b"],
    ["hundreds of stars", "*a".repeat(400)],
  ])("is linear for %s", async (_, find) => {
    const text = `${"a".repeat(5_000_000)}\n`.repeat(2);
    expect(await fastest(1500, () => search(text, find))).toBeLessThan(4000);
  });

  it.each(["", "*", "***", "x".repeat(1001)])(
    "refuses to look for nothing or too much (%#)",
    async (find) => {
      await expect(search("text", find)).rejects.toMatchObject({ code: "usage-invalid" });
    },
  );
});
