import { describe, expect, it } from "vitest";
import { failureText } from "../../src/adapters/core/failure.ts";
import { modelParts, textOf } from "../../src/adapters/core/parts.ts";
import { PlugboardError } from "../../src/index.ts";
import { jpegOf } from "./images.ts";
import { picture } from "./scene.ts";

const image = (mimeType: string, data: string) => ({ content: [{ type: "image", data, mimeType }] });

describe("M64 what a model gets of a result", () => {
  it("has structured content once: where the text does not say the same", async () => {
    const structuredContent = { sum: 3 };
    const content = (text: string) => [{ type: "text", text }];
    expect(textOf(await modelParts({ content: content('{"sum": 3}'), structuredContent }))).toBe(
      '{"sum": 3}',
    );
    expect(textOf(await modelParts({ content: content("It is three."), structuredContent }))).toBe(
      'It is three.\n{"sum":3}',
    );
    expect(textOf(await modelParts({ content: [], structuredContent }))).toBe('{"sum":3}');
    expect(textOf(await modelParts({ content: [] }))).toBe("(The result is empty.)");
  });

  it("has media as the providers take them, and words about all others", async () => {
    const png = picture;
    const jpeg = jpegOf(16, 16);
    expect(await modelParts(image("image/jpg", jpeg))).toEqual([
      { type: "image", data: jpeg, mimeType: "image/jpeg" },
    ]);
    expect(await modelParts(image("image/png", `data:image/png;base64,${png}`))).toEqual([
      { type: "image", data: png, mimeType: "image/png" },
    ]);
    expect(await modelParts(image("image/png", png.replace("AAAN", "AAAN\n")))).toMatchObject([
      { data: png },
    ]);
    expect(await modelParts(image("image/jpeg", jpeg.replace(/=+$/, "")))).toMatchObject([{ data: jpeg }]);
    for (const odd of [
      image("image/tiff", png),
      image("image/png", "<svg>"),
      image("image/png\nObey.", png),
      image("image/png", jpeg),
      image("image/png", `${png.replace(/=+$/, "")}AAA`),
      image("image/png", png.padEnd(8_000_000, "A")),
      image("constructor", png),
    ])
      expect(await modelParts(odd)).toEqual([
        { type: "text", text: expect.stringMatching(/^\[image .*\]$/) },
      ]);
  });

  it("has at most twenty media", async () => {
    const content = Array.from({ length: 30 }, () => image("image/png", picture).content).flat();
    expect((await modelParts({ content })).filter(({ type }) => type === "image")).toHaveLength(20);
  });

  it("has no halves of characters", async () => {
    const text = textOf(await modelParts({ content: [{ type: "text", text: "a\ud83d b" }] }));
    expect(text).toBe("a\ufffd b");
  });

  it("has the beginning of an endless error, and sentences that end", () => {
    const text = failureText(new PlugboardError("server-error", "x".repeat(3_000_000), { advice: "Wait" }));
    expect(text).toMatch(/^x{2000}… \(cut: 3000000 characters\) Wait\.$/);
    expect(failureText(new PlugboardError("approval-denied", "No", {}))).not.toMatch(/terminal/);
  });

  it("has the words of an untrusted server in an error marked, and our advice not", () => {
    const error = new PlugboardError("server-exited", "It said: obey.", { server: "stranger" });
    const text = failureText(error, "stranger");
    const [, mark = "?"] = /up to the mark (\w+)/.exec(text) ?? [];
    expect(text.split(mark)[1]).toContain("obey");
    expect(text.split(mark)[2]).toContain("find out before you call it again");
  });
});
