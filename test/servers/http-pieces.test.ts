import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventStreamParser } from "../../src/servers/transports/http/event-stream.ts";
import {
  checkSessionId,
  encodeHeaderValue,
  routingHeaders,
} from "../../src/servers/transports/http/headers.ts";
import { reopenDelayMs } from "../../src/servers/transports/http/push-stream.ts";
import { resumeDelayMs } from "../../src/servers/transports/http/resume.ts";
import { retryAfterMs } from "../../src/servers/transports/http/retry-after.ts";

function parse(chunks: Buffer[], maxEventLength = 1e6) {
  const events: { type: string; data: string }[] = [];
  const tooLong = () => new Error("too long");
  const parser = new EventStreamParser({
    onEvent: ({ type, data }) => events.push({ type, data: data.toString() }),
    maxEventLength,
    tooLong,
  });
  for (const chunk of chunks) parser.push(chunk);
  return { events, id: parser.lastEventId, retryMs: parser.retryMs };
}

describe("M20 the event stream parser", () => {
  const text = fc
    .string({ unit: "binary", maxLength: 40 })
    .map((value) => value.replace(/[\r\n\uFEFF]/g, ""));
  const lineEnd = fc.constantFrom("\n", "\r", "\r\n");

  test("reads all events, wherever the bytes are split and whatever the line ends are", () => {
    const written = fc.array(fc.tuple(fc.array(text, { minLength: 1, maxLength: 3 }), text, lineEnd), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(written, fc.array(fc.nat(7), { maxLength: 80 }), (messages, cuts) => {
        // Lone surrogates do not survive UTF-8; neither do they in what we compare with.
        const wire = messages.map(([lines, type, end]) => {
          return [`: c`, `event: ${type}`, ...lines.map((line) => `data: ${line}`), "", ""].join(end);
        });
        const bytes = Buffer.from(wire.join(""));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(from, from + cut));
          from += cut;
        }
        chunks.push(bytes.subarray(from));
        const expected = messages.map(([lines, type]) => ({ type, data: lines.join("\n") }));
        expect(parse(chunks).events).toEqual(
          expected.map((event) => ({ type: wellFormed(event.type), data: wellFormed(event.data) })),
        );
      }),
      { numRuns: 300 },
    );
  });

  const wellFormed = (value: string) => Buffer.from(value).toString();

  test.each([
    ["id: 1\ndata: a\n\n", { events: [{ type: "", data: "a" }], id: "1" }],
    ["id: 1\n\n", { events: [], id: "1" }],
    ["id: a\u0000b\ndata: a\n\n", { id: undefined }],
    ["id: 1\ndata: a\n\nid: 2\ndata: b\n", { events: [{ type: "", data: "a" }], id: "1" }],
    ["id: 1\ndata:\n\nid\ndata: x\n\n", { id: "" }],
    ["retry: 10\n\n", { retryMs: 10, events: [] }],
    ["retry: -1\nretry: 1.5\nretry: x\n\n", { retryMs: undefined }],
    ["data\n\n", { events: [{ type: "", data: "" }] }],
    ["data:x\ndata:  y\n\n", { events: [{ type: "", data: "x\n y" }] }],
    ["\uFEFFdata: x\n\n", { events: [{ type: "", data: "x" }] }],
    [": data: x\n\n:\n\n", { events: [] }],
    ["event: a\n\ndata: x\n\n", { events: [{ type: "", data: "x" }] }],
  ])("%j", (wire, expected) => {
    expect(parse([Buffer.from(wire)])).toMatchObject(expected);
  });

  test.each([
    ["one long line", ["data: ", "x".repeat(2000)]],
    ["many short lines", ["data: xxxxxxxxx\n".repeat(200)]],
    ["many empty lines of data", ["data\n".repeat(2000)]],
    ["a long comment", [":", "x".repeat(2000)]],
  ])("gives up on an event that is too long: %s", (_name, parts) => {
    expect(() =>
      parse(
        parts.map((part) => Buffer.from(part)),
        1000,
      ),
    ).toThrow("too long");
  });

  test("accepts any number of small events, and reads 200,000 single bytes in linear time", () => {
    const bytes = Buffer.from("data: xxxxxxxxx\n\n".repeat(60_000));
    expect(parse([bytes], 100).events).toHaveLength(60_000);
    const line = Buffer.from(`data: ${"x".repeat(200_000)}\n\n`);
    const chunks = Array.from(line, (_, index) => line.subarray(index, index + 1));
    expect(parse(chunks, 2e6).events[0]?.data).toHaveLength(200_000);
  });
});

describe("M44 retry delays", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each([
    ["0", 0],
    ["2", 2000],
    ["0.5", 500],
    ["61", 60_000],
    ["1000000000", 60_000],
    ["1e9", 60_000],
    ["9".repeat(400), 60_000],
    ["-1", 1000],
    ["soon", 1000],
    ["", 1000],
    [undefined, 1000],
    ["Thu, 01 Jan 2026 00:00:07 GMT", 7000],
    ["Thursday, 01-Jan-26 00:00:07 GMT", 7000],
    ["Thu, 01 Jan 2027 00:00:00 GMT", 60_000],
    ["Thu, 01 Jan 2015 00:00:00 GMT", 1000],
    ["Thu, 99 Foo", 1000],
  ])("Retry-After: %s", (value, expected) => {
    expect(retryAfterMs(value, now)).toBe(expected);
  });

  test.each([
    [0, 0, 0, 100],
    [0, 0, 50, 30_000],
    [1e12, 0, 0, 30_000],
    [500, 0, 0, 500],
    [undefined, 0, 0, 1000],
    [undefined, 2, 0, 2250],
  ])(
    "a stream with retry %s, %d failures and %d empty attempts is resumed after %d ms",
    (retry, failures, empty, ms) => {
      expect(resumeDelayMs(retry, failures, empty)).toBe(ms);
    },
  );

  test.each([
    [undefined, 0, 1000],
    [undefined, 2, 2250],
    [undefined, 100, 30_000],
    [0, 0, 100],
    [0, 5, 3200],
    [1e12, 0, 30_000],
    [5000, 0, 5000],
  ])("the push stream with retry %s, useless %d times, is reopened after %d ms", (retry, useless, ms) => {
    expect(reopenDelayMs(retry, useless)).toBe(ms);
  });
});

describe("M21 header values", () => {
  test.each([
    ["plain", "plain"],
    ["with space", "with space"],
    [" lead", "=?base64?IGxlYWQ=?="],
    ["", "=?base64??="],
    ["ü", "=?base64?w7w=?="],
    ["a\r\nb: c", "=?base64?YQ0KYjogYw==?="],
    ["=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
  ])("%j becomes %j", (value, expected) => {
    expect(encodeHeaderValue(value)).toBe(expected);
  });

  test.each([
    ["tools/call", { name: "a" }, { "mcp-method": "tools/call", "mcp-name": "a" }],
    ["resources/read", { uri: "file:///a b" }, { "mcp-method": "resources/read", "mcp-name": "file:///a b" }],
    ["tools/call", { name: 1 }, { "mcp-method": "tools/call" }],
    ["constructor", {}, { "mcp-method": "constructor" }],
  ])("%s %j", (method, params, expected) => {
    expect(routingHeaders({ jsonrpc: "2.0", id: "p1", method, params })).toEqual(expected);
  });

  test.each(["", "a b", "a\r\nb", "é", "x".repeat(8192)])("the session id %j is rejected", (id) => {
    expect(() => checkSessionId("remote", id)).toThrow(/session id/);
  });
});
