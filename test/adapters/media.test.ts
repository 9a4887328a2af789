import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { imageSize } from "../../src/adapters/core/image-size.ts";
import type { Provider } from "../../src/adapters/core/media.ts";
import { modelParts } from "../../src/adapters/core/parts.ts";
import { gifOf, jpegOf, pngOf, webpOf } from "./images.ts";

const mebibyte = 1024 * 1024;

/** What a model of the provider gets of an image. */
async function given(provider: Provider, data: string, mimeType = "image/png"): Promise<string | undefined> {
  const [part] = await modelParts({ content: [{ type: "image", data, mimeType }] }, true, provider);
  return part?.type;
}

describe("the size of an image", () => {
  it.each([
    ["image/png", pngOf(9_000, 70_000), { width: 9_000, height: 70_000 }],
    ["image/gif", gifOf(9_000, 20), { width: 9_000, height: 20 }],
    ["image/jpeg", jpegOf(9_000, 20), { width: 9_000, height: 20 }],
    ["image/jpeg", jpegOf(9_000, 20, 40), { width: 9_000, height: 20 }],
    ["image/webp", webpOf(9_000, 20, "VP8 "), { width: 9_000, height: 20 }],
    ["image/webp", webpOf(9_000, 20, "VP8L"), { width: 9_000, height: 20 }],
    ["image/webp", webpOf(16_384, 16_384, "VP8L"), { width: 16_384, height: 16_384 }],
    ["image/webp", webpOf(9_000, 20, "VP8X"), { width: 9_000, height: 20 }],
  ])("is read from the header of %s", (mimeType, data, size) => {
    expect(imageSize(data, mimeType)).toEqual(size);
  });

  it("is unknown where the header is broken, cut, endless or empty", () => {
    expect(imageSize(pngOf(0, 5), "image/png")).toBeUndefined();
    expect(imageSize(pngOf(5, 5, 30).slice(0, 20), "image/png")).toBeUndefined();
    expect(imageSize(jpegOf(5, 5).slice(0, 1_000), "image/jpeg")).toBeUndefined();
    expect(imageSize(Buffer.alloc(100_000, 0xff).toString("base64"), "image/jpeg")).toBeUndefined();
    expect(imageSize(webpOf(5, 5, "VP8X"), "image/jpeg")).toBeUndefined();
  });
});

describe("M64 an image that the model's provider would refuse", () => {
  it("is described in words where its base64 is longer than 5 MiB for Anthropic", async () => {
    const large = pngOf(100, 100, 4 * mebibyte);
    expect(await given("anthropic", large)).toBe("text");
    expect(await given("anthropic", pngOf(100, 100, 3.7 * mebibyte))).toBe("image");
    expect(await given("openai", large)).toBe("image");
    expect(await given("google", large)).toBe("image");
    expect(await given("openai", pngOf(100, 100, 6 * mebibyte))).toBe("text");
  });

  it("is described in words where it has more than 8,000 pixels in a direction for Anthropic", async () => {
    expect(await given("anthropic", pngOf(8_000, 8_000))).toBe("image");
    expect(await given("anthropic", pngOf(8_001, 10))).toBe("text");
    expect(await given("anthropic", jpegOf(10, 8_001), "image/jpeg")).toBe("text");
    expect(await given("openai", pngOf(8_001, 10))).toBe("image");
  });

  it("is described in words where its size cannot be known", async () => {
    expect(await given("anthropic", "/9j/4AAQSkZJRgABAQ==", "image/jpeg")).toBe("text");
  });

  it("is described in words where the result has 16 MiB of media already", async () => {
    const sizes = [3.7, 3.7, 3.7, 3.7, 0.5].map((size) => size * mebibyte);
    const content = sizes.map((size) => ({
      type: "image",
      data: pngOf(100, 100, size),
      mimeType: "image/png",
    }));
    for (const provider of ["anthropic", "openai", "google"] as const) {
      const parts = await modelParts({ content }, true, provider);
      expect(parts.map(({ type }) => type)).toEqual(["image", "image", "image", "text", "image"]);
    }
  });

  it("keeps the narrowest limits where the provider is not known", async () => {
    expect(await given("unknown", pngOf(8_001, 10))).toBe("text");
  });

  it("is scaled down where the program has sharp", async () => {
    const create = { width: 9_000, height: 300, channels: 3 as const, background: "white" };
    const png = (await sharp({ create }).png().toBuffer()).toString("base64");
    const [part] = await modelParts(
      { content: [{ type: "image", data: png, mimeType: "image/png" }] },
      true,
      "anthropic",
    );
    if (part?.type !== "image") throw new Error("no image");
    expect(imageSize(part.data, part.mimeType)).toEqual({ width: 1_568, height: 52 });
  });
});
