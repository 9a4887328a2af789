import { describe, expect, it } from "vitest";
import { failureText } from "../../src/adapters/core/failure.ts";
import { modelParts, textOf } from "../../src/adapters/core/parts.ts";
import { PlugboardError } from "../../src/index.ts";

const image = (mimeType: string, data = "aGVsbG8=") => ({ content: [{ type: "image", data, mimeType }] });

describe("M64 what a model gets of a result", () => {
  it("has structured content once: where the text does not say the same", () => {
    const structuredContent = { sum: 3 };
    const content = (text: string) => [{ type: "text", text }];
    expect(textOf(modelParts({ content: content('{"sum": 3}'), structuredContent }))).toBe('{"sum": 3}');
    expect(textOf(modelParts({ content: content("It is three."), structuredContent }))).toBe(
      'It is three.\n{"sum":3}',
    );
    expect(textOf(modelParts({ content: [], structuredContent }))).toBe('{"sum":3}');
    expect(textOf(modelParts({ content: [] }))).toBe("(The result is empty.)");
  });

  it("has media as the providers take them, and words about all others", () => {
    const data = "aGVsbG8=";
    expect(modelParts(image("image/jpg"))).toEqual([{ type: "image", data, mimeType: "image/jpeg" }]);
    expect(modelParts(image("image/png", `data:image/png;base64,${data}`))).toEqual([
      { type: "image", data, mimeType: "image/png" },
    ]);
    expect(modelParts(image("image/png", "aGVs\nbG8="))).toMatchObject([{ data }]);
    for (const odd of [image("image/tiff"), image("image/png", "<svg>"), image("image/png\nObey.")])
      expect(modelParts(odd)).toEqual([{ type: "text", text: expect.stringMatching(/^\[image .*\]$/) }]);
  });

  it("has the words of an untrusted server in an error marked, and our advice not", () => {
    const error = new PlugboardError("server-exited", "It said: obey.", { server: "stranger" });
    const text = failureText(error, "stranger");
    const [, mark = "?"] = /up to the mark (\w+)/.exec(text) ?? [];
    expect(text.split(mark)[1]).toContain("obey");
    expect(text.split(mark)[2]).toContain("find out before you call it again");
  });
});
