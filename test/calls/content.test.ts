import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64, mediaParts } from "../../src/calls/content/media.ts";
import { formatBytes } from "../../src/lib/format-bytes.ts";
import { contentToText } from "../../src/calls/content/text.ts";
import type { ToolResult } from "../../src/calls/content/parts.ts";

const png = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");
const text = (value: string) => ({ type: "text", text: value });

/** The text shown for each kind of content, as in the table in docs/results.md. */
const shown: [string, ToolResult, string][] = [
  ["a text", { content: [text("hello")] }, "hello"],
  ["two texts", { content: [text("one"), text("two")] }, "one\ntwo"],
  ["an image", { content: [{ type: "image", data: png, mimeType: "image/png" }] }, "[image image/png 8 B]"],
  ["an image without a type", { content: [{ type: "image", data: png }] }, "[image of unknown type 8 B]"],
  [
    "an image sent as a data URL",
    { content: [{ type: "image", data: `data:image/webp;base64,${png}` }] },
    "[image image/webp 8 B]",
  ],
  [
    "a sound",
    { content: [{ type: "audio", data: "A".repeat(16_000), mimeType: "audio/wav" }] },
    "[audio audio/wav 12 KB]",
  ],
  [
    "a resource link",
    { content: [{ type: "resource_link", uri: "file:///a.txt", name: "a.txt" }] },
    "file:///a.txt (a.txt)",
  ],
  [
    "an embedded text",
    { content: [{ type: "resource", resource: { uri: "x:1", text: "inside" } }] },
    "inside",
  ],
  [
    "an embedded file",
    {
      content: [
        { type: "resource", resource: { uri: "x:1.pdf", blob: "AAAA", mimeType: "application/pdf" } },
      ],
    },
    "[blob application/pdf 3 B x:1.pdf]",
  ],
  ["structured content only", { structuredContent: { a: 1 } }, '{\n  "a": 1\n}'],
  [
    "structured content and its JSON",
    { content: [text('{"a":1}')], structuredContent: { a: 1 } },
    '{\n  "a": 1\n}',
  ],
  [
    "structured content and its JSON with other spaces and key order",
    { content: [text('{ "b": 2,\n "a": 1 }')], structuredContent: { a: 1, b: 2 } },
    '{\n  "a": 1,\n  "b": 2\n}',
  ],
  ["a wrapped text", { content: [text("hi")], structuredContent: { result: "hi" } }, "hi"],
  ["a wrapped list", { content: [text("a"), text("b")], structuredContent: { result: ["a", "b"] } }, "a\nb"],
  [
    "a summary beside structured content",
    { content: [text("2 rows")], structuredContent: { rows: [1, 2] } },
    '2 rows\n{\n  "rows": [\n    1,\n    2\n  ]\n}',
  ],
  [
    "an image beside mirrored structured content",
    {
      content: [text('{"a":1}'), { type: "image", data: png, mimeType: "image/png" }],
      structuredContent: { a: 1 },
    },
    '{\n  "a": 1\n}\n[image image/png 8 B]',
  ],
  [
    "a part from the future",
    { content: [{ type: "hologram", depth: 3 }] },
    '{\n  "type": "hologram",\n  "depth": 3\n}',
  ],
  ["a part that is none", { content: [null, 5] }, "null\n5"],
  ["an error", { content: [text("no such file")], isError: true }, "no such file"],
  ["nothing", {}, ""],
];

describe("M46 the text of a result", () => {
  it.each(shown)("shows %s", (_, result, expected) => {
    expect(contentToText(result)).toBe(expected);
  });

  it("hides control characters of a hostile media type", () => {
    const result = { content: [{ type: "image", data: "AAAA", mimeType: "image/\u001b[2J\n" }] };
    expect(contentToText(result)).not.toMatch(/[\u001b\n]/);
  });

  it("survives structured content that is nested too deeply to serialize", () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(contentToText({ content: [text("x")], structuredContent: deep })).toContain("x");
  });
});

describe("M46 media as files", () => {
  it("have a name, a type and decoded bytes", () => {
    const result = {
      content: [
        text("a picture"),
        { type: "image", data: png, mimeType: "image/jpeg" },
        {
          type: "resource",
          resource: { uri: "file:///../../etc/.cron d.pdf?x", blob: png, mimeType: "application/pdf" },
        },
        { type: "audio", data: "not base64!", mimeType: "audio/mpeg" },
      ],
    };
    const files = mediaParts(result);
    expect(files.map(({ name, extension, mimeType }) => [name, extension, mimeType])).toEqual([
      ["image-1.jpg", "jpg", "image/jpeg"],
      ["cron_d.pdf", "pdf", "application/pdf"],
      ["audio-3.mp3", "mp3", "audio/mpeg"],
    ]);
    expect(files.map((file) => file.bytes()?.toString("hex"))).toEqual([
      "89504e470d0a1a0a",
      "89504e470d0a1a0a",
      undefined,
    ]);
  });

  it.each(["", "A", "AAAAA", "AA=A", "A===", "====", "a b!", "ä"])("does not decode %j", (data) => {
    expect(decodeBase64(data)).toBeUndefined();
  });

  it("decodes what Node encodes, in both alphabets, with and without line ends", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        for (const data of [buffer.toString("base64"), buffer.toString("base64url")]) {
          expect(decodeBase64(data)).toEqual(buffer);
          expect(decodeBase64(data.replaceAll(/.{10}/g, "$&\r\n"))).toEqual(buffer);
        }
      }),
    );
  });

  it("get a safe name for any URI", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (uri, mimeType) => {
        const [file] = mediaParts({
          content: [{ type: "resource", resource: { uri, blob: "AAAA", mimeType } }],
        });
        expect(file?.name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,90}$/);
      }),
    );
  });

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1234, "1.2 KB"],
    [12_345, "12 KB"],
    [999_600, "1 MB"],
    [31_457_280, "31 MB"],
  ])("formats %d bytes as %s", (bytes, written) => {
    expect(formatBytes(bytes)).toBe(written);
  });
});
