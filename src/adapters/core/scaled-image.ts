import type { MediaLimits } from "./media.ts";

/** What we use of the library `sharp`, if the program has it. */
type Sharp = (bytes: Buffer) => SharpImage;

interface SharpImage {
  resize(options: { width: number; height: number; fit: "inside"; withoutEnlargement: boolean }): SharpImage;
  png(): SharpImage;
  jpeg(options: { quality: number }): SharpImage;
  toBuffer(): Promise<Buffer>;
}

/** Models see no more than this of an image, whatever its size. */
const usefulSide = 1_568;

/** The image as large as the provider takes it; undefined without `sharp`, or if it cannot read the image. */
export async function scaledImage(
  { data, mimeType }: { data: string; mimeType: string },
  limits: MediaLimits,
): Promise<{ data: string; mimeType: string } | undefined> {
  const sharp = await loadSharp();
  if (!sharp) return undefined;
  const side = Math.min(usefulSide, limits.side ?? usefulSide);
  const bytes = Buffer.from(data, "base64");
  const small = () =>
    sharp(bytes).resize({ width: side, height: side, fit: "inside", withoutEnlargement: true });
  try {
    if (mimeType !== "image/jpeg") {
      const png = (await small().png().toBuffer()).toString("base64");
      if (png.length <= limits.characters) return { data: png, mimeType: "image/png" };
    }
    const jpeg = (await small().jpeg({ quality: 80 }).toBuffer()).toString("base64");
    return jpeg.length <= limits.characters ? { data: jpeg, mimeType: "image/jpeg" } : undefined;
  } catch {
    return undefined;
  }
}

async function loadSharp(): Promise<Sharp | undefined> {
  // As a variable, because programs that are bundled without it must still build.
  const name = "sharp";
  try {
    const { default: sharp } = (await import(name)) as { default?: unknown };
    return typeof sharp === "function" ? (sharp as Sharp) : undefined;
  } catch {
    return undefined;
  }
}
