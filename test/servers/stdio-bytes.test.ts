import fc from "fast-check";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { LineReader } from "../../src/servers/transports/stdio/line-reader.ts";
import { StderrTail } from "../../src/servers/transports/stdio/stderr-tail.ts";
import { nodeProgram, processesWith, stdioFixture } from "./stdio-fixture.ts";
import { result } from "./rpc-fixture.ts";

const stdio = stdioFixture();

function read(
  bytes: Buffer | string,
  options: { chunk?: number; maxLineBytes?: number; end?: boolean } = {},
) {
  const buffer = Buffer.from(bytes as string);
  const seen = { messages: [] as unknown[], skipped: [] as string[], tooLarge: [] as number[] };
  const reader = new LineReader({
    maxLineBytes: options.maxLineBytes ?? 1 << 20,
    takes: () => false,
    onMessage: (message) => seen.messages.push(message),
    onSkipped: (line) => seen.skipped.push(line),
    onTooLarge: (size) => seen.tooLarge.push(size),
  });
  const step = options.chunk ?? Math.max(1, buffer.length);
  for (let at = 0; at < buffer.length; at += step) reader.push(buffer.subarray(at, at + step));
  if (options.end) reader.end();
  return seen;
}

describe("M44 messages are found among any bytes, and the rest is counted", () => {
  const a = { id: 1, text: "ü €😀\u2028" };
  const one = JSON.stringify(a);

  it.each([
    ["plain lines", `${one}\n${one}\n`, [a, a], 0],
    ["CRLF", `${one}\r\n${one}\r\n`, [a, a], 0],
    ["blank lines", `\n\r\n  \n\t\n${one}\n\n`, [a], 0],
    ["a byte order mark", `\uFEFF${one}\n\uFEFF${one}\n`, [a, a], 0],
    ["a banner before and between", `Hello\n${one}\nWARN: x\n${one}\n`, [a, a], 2],
    ["NUL bytes", `\0\n\0${one}\n${one}\n`, [a], 2],
    ["JSON that is no message", `42\n"x"\nnull\ntrue\n${one}\n`, [a], 4],
    ["half a message", `{"id":1,\n${one}\n`, [a], 1],
    ["a batch", `[${one},3,${one},[]]\n[]\n`, [a, a], 2],
    ["two messages on a line", `${one}${one}\n${one}\n`, [a], 1],
    ["deep nesting", `${"[".repeat(500_000)}\n${one}\n`, [a], 1],
    ["numbers beyond doubles", `{"n":1e400}\n${one}\n`, [{ n: Infinity }, a], 0],
  ])("%s", (_, text, messages, skipped) => {
    for (const chunk of [undefined, 1, 7]) {
      const seen = read(text, chunk === undefined ? {} : { chunk });
      // Numbers that JavaScript cannot hold have their text with them, which no copy has.
      expect(structuredClone(seen.messages)).toEqual(messages);
      expect(seen.skipped).toHaveLength(skipped);
    }
  });

  it("does not keep a long line to show its start", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const held = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = held();
    const shown = Array.from({ length: 5 }, (_, count) => {
      const { skipped } = read(`${count} ${"x".repeat(10_000_000)}\n`, { maxLineBytes: 1 << 24 });
      return skipped[0];
    });
    // One of them may be kept by the engine as what was matched last.
    await vi.waitFor(() => expect(held() - before).toBeLessThan(30_000_000));
    expect(shown.map((line) => line?.length)).toEqual([200, 200, 200, 200, 200]);
  });

  it("replaces invalid UTF-8 and keeps the framing", () => {
    const bytes = Buffer.concat([
      Buffer.from('{"t":"'),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from(`"}\n${one}\n`),
    ]);
    expect(read(bytes).messages).toEqual([{ t: "\uFFFD\uFFFD(" }, a]);
  });

  it("lets no key change a prototype", () => {
    const [message] = read(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\n',
    ).messages;
    expect(Object.keys(message as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("accepts a last message without a line end, but not an incomplete one", () => {
    expect(read(one, { end: true }).messages).toEqual([a]);
    const half = read(one.slice(0, -1), { end: true });
    expect([half.messages, half.skipped.length]).toEqual([[], 1]);
  });

  it("rejects a line beyond the limit once, whole or in chunks, and reads nothing after it", () => {
    for (const chunk of [undefined, 1, 1000]) {
      const seen = read(`${one}\n${"x".repeat(5000)}\n${one}\n`, {
        maxLineBytes: 4096,
        ...(chunk && { chunk }),
      });
      expect(seen.messages).toEqual([a]);
      expect(seen.tooLarge).toHaveLength(1);
    }
    expect(read(`"${"x".repeat(4094)}"\n`, { maxLineBytes: 4096 }).tooLarge).toEqual([]);
  });

  it("reads the same messages however they are split", () => {
    const line = fc.oneof(fc.json(), fc.string(), fc.constant(""), fc.constant("\r"));
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 40 }), (lines, chunk) => {
        const text = lines.map((item) => `${item}\n`).join("");
        expect(read(text, { chunk })).toEqual(read(text));
      }),
    );
  });

  it("takes linear time, however small the chunks", () => {
    // Count copied bytes instead of time, so that a slow machine does not fail this.
    const copies = vi.spyOn(Buffer.prototype, "copy");
    const text = `{"t":"${"x".repeat(4_000_000)}"}\n`;
    expect(read(text, { chunk: 16, maxLineBytes: 1 << 23 }).messages).toHaveLength(1);
    const copied = copies.mock.results.reduce((sum, { value }) => sum + Number(value), 0);
    copies.mockRestore();
    expect(copied).toBeLessThan(3 * text.length);
  });
});

describe("M44 the same from a real program", () => {
  it("skips a banner, remembers its start, and works", async () => {
    const { transport, request } = await stdio.open(nodeProgram("noisy.mjs", "1000"));
    expect(await result(request("echo", { n: 1 }))).toMatchObject({ n: 1 });
    expect(transport.skipped).toEqual({
      count: 3,
      first: ["Welcome to Noisy 1.0!", "listening on stdio\\u{d}", "\\u{1b}[31mred\\u{1b}[0m"],
    });
  });

  it("delivers a result of 9.9 MB intact", async () => {
    const { request } = await stdio.open(nodeProgram("good.mjs"));
    const { text } = await result(request("big", { bytes: 9_900_000 }));
    expect((text as string).length).toBe(9_900_000);
  });

  it("ends the connection at a message beyond the limit and says which limit", async () => {
    const { request, closed } = await stdio.open(nodeProgram("good.mjs"), { maxLineBytes: 1_000_000 });
    const call = request("big", { bytes: 3_000_000 });
    await expect(call).rejects.toMatchObject({ code: "output-too-large", data: { maxLineBytes: 1_000_000 } });
    await closed;
  });

  it("never buffers a line of 100 MB: the default limit ends the connection and the program", async () => {
    const processes = stdio.tree({ graces: { eofMs: 100, termMs: 100 } });
    const args = ["-c", "head -c 100000000 /dev/zero | tr '\\0' x; sleep 1000"];
    const { transport, closed } = await stdio.open({ server: "s", command: "sh", args }, { processes });
    await closed;
    const limit = 32 * 1024 * 1024;
    expect(transport.lost).toMatchObject({ code: "output-too-large", data: { maxLineBytes: limit } });
    expect(Number(transport.lost?.data?.["bytes"])).toBeLessThan(limit + 1_000_000);
    await transport.close();
    expect(processesWith(processes.owner)).toEqual([]);
  });

  it("reads batches, broken lines and answers split anywhere", async () => {
    const { transport, request } = await stdio.open(nodeProgram("good.mjs"));
    const raw = (text: string, chunk: number) => ({ base64: Buffer.from(text).toString("base64"), chunk });
    const first = `[{"jsonrpc":"2.0","id":"p1","result":{"n":1}},7]\r\n`;
    expect(await result(request("raw", raw(first, 3)))).toEqual({ n: 1 });
    const second = `{"jsonrpc":"2.0","id":"p2","result":{"__proto__":{"x":1}}}\n`;
    const answer = await result(request("raw", raw(second, 1)));
    expect(Object.keys(answer)).toEqual(["__proto__"]);
    expect(transport.skipped.count).toBe(1);
  });

  it("ignores and counts lines that are not messages", async () => {
    const { request, rpc } = await stdio.open(nodeProgram("good.mjs"));
    const messages = [
      `{}`,
      `{"jsonrpc":"2.0","id":{},"method":3}`,
      `{"jsonrpc":"2.0","id":"p99","result":{}}`,
      `{"jsonrpc":"2.0","id":1}`,
      `{"jsonrpc":"2.0","id":"p1","result":{"ok":1}}`,
    ];
    const base64 = Buffer.from([...messages, ""].join("\n")).toString("base64");
    expect(await result(request("raw", { base64 }))).toEqual({ ok: 1 });
    expect(rpc.inbound.ignored).toBe(4);
    expect(await result(request("ping"))).toEqual({});
  });

  it("survives a flood on stderr, keeps its end, and reports few lines of it", async () => {
    const lines: string[] = [];
    const { transport, request } = await stdio.open(nodeProgram("noisy.mjs", "100000000"), {
      onStderr: (line) => lines.push(line),
    });
    expect(await result(request("ping"))).toEqual({});
    await expect.poll(() => transport.stderr.lastWords()).toBe("last words");
    expect(transport.stderr.tail().length).toBeLessThanOrEqual(64 * 1024);
    expect(lines.length).toBeLessThan(20_000);
    expect(lines[0]).toContain("stderr noise");
  });
});

describe("M23 the end of stderr", () => {
  it("contains exactly the last bytes, from the start of a line", () => {
    const tail = new StderrTail({ maxBytes: 32 });
    expect(tail.tail()).toBe("");
    tail.push(Buffer.from("one\ntwo\n"));
    expect([tail.tail(), tail.lastWords()]).toEqual(["one\ntwo\n", "two"]);
    for (let n = 0; n < 100; n++) tail.push(Buffer.from(`line ${n}\n`));
    expect(tail.tail()).toBe("line 97\nline 98\nline 99\n");
    tail.push(Buffer.from(`${"y".repeat(100)}\nend`));
    expect(tail.tail()).toBe("end");
    expect(tail.tail(2)).toBe("nd");
  });

  it("starts with a whole character and is safe to print", () => {
    const tail = new StderrTail({ maxBytes: 5 });
    tail.push(Buffer.from("€€€"));
    expect(tail.tail()).toBe("€");
    const coloured = new StderrTail();
    coloured.push(Buffer.from("\u001b[31mfatal\u001b[0m\n\n"));
    expect(coloured.lastWords()).toBe("fatal");
  });

  it("reports a limited number of lines per second and how many were left out", () => {
    let now = 0;
    const lines: string[] = [];
    const tail = new StderrTail({ onLine: (line) => lines.push(line), maxLinesPerSecond: 3, now: () => now });
    tail.push(Buffer.from("1\n2\n3\n4\n5\nhal"));
    now = 1500;
    tail.push(Buffer.from("f\n"));
    expect(lines).toEqual(["1", "2", "3", "… 2 more lines", "half"]);
  });
});
