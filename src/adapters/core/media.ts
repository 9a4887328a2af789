import { imageSize } from "./image-size.ts";
import { scaledImage } from "./scaled-image.ts";

/** Who gets media: each provider takes others. `unknown` keeps the narrowest limits of all. */
export type Provider = "anthropic" | "openai" | "google" | "unknown";

/** What a provider takes of one medium. */
export interface MediaLimits {
  /** Characters of base64, which is what is sent. */
  characters: number;
  /** Pixels of an image in each direction; absent if larger images are accepted. */
  side?: number;
}

/** How many media a model may still be given, and how large. */
export interface MediaBudget {
  left: number;
  /** Characters of base64 that all of them may still have together. */
  characters: number;
  limits: MediaLimits;
}

const mostMedia = 20;
/** Of one result. A request has an end too, for Gemini after 20 MB, and every later one has all results in it. */
const mostTogether = 16 * 1024 * 1024;
/** 5 MiB of bytes. */
const usual: MediaLimits = { characters: Math.floor((5 * 1024 * 1024 * 4) / 3) };
/** Anthropic counts the characters of base64. A request with a larger image fails, and with it the whole conversation. */
const anthropic: MediaLimits = { characters: 5 * 1024 * 1024, side: 8_000 };

const limitsOf: Record<Provider, MediaLimits> = {
  anthropic,
  openai: usual,
  google: usual,
  unknown: anthropic,
};

/** Larger images are not even scaled down. */
const mostCharacters = 64 * 1024 * 1024;

/** The media that one result, prompt or text with mentions may have; none for a model without eyes and ears. */
export function mediaBudget(isWanted: boolean, provider: Provider = "unknown"): MediaBudget {
  return { left: isWanted ? mostMedia : 0, characters: mostTogether, limits: limitsOf[provider] };
}

const wave = /^RIFF.{4}WAVE/s;
const layer3 = /^(ID3|\xff[\xe2-\xff])/;

/** What the providers take, and how it begins. Anything else would fail the whole request, and every later one with it. */
const taken: Readonly<Record<string, RegExp>> = {
  "image/png": /^\x89PNG\r\n\x1a\n/,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF.{4}WEBP/s,
  "audio/wav": wave,
  "audio/x-wav": wave,
  "audio/mpeg": layer3,
  "audio/mp3": layer3,
  "application/pdf": /^%PDF-/,
};

/** A medium in plain base64. */
export interface Medium {
  data: string;
  mimeType: string;
}

/**
 * A medium as the provider takes it, which counts from then on. An image that is too large is scaled down if that is
 * possible. Undefined if it is not what its label says, still too large, one too many, or nothing that providers take.
 */
export async function takenMedium(part: Labelled, budget: MediaBudget): Promise<Medium | undefined> {
  const medium = budget.left > 0 ? plainMedium(part) : undefined;
  if (!medium) return undefined;
  const limits = { ...budget.limits, characters: Math.min(budget.limits.characters, budget.characters) };
  const isImage = medium.mimeType.startsWith("image/");
  const sent = fits(medium, limits) ? medium : isImage ? await scaledImage(medium, limits) : undefined;
  if (!sent) return undefined;
  budget.left--;
  budget.characters -= sent.data.length;
  return sent;
}

/** An image whose size cannot be read is too large where there is a limit. */
function fits({ data, mimeType }: Medium, { characters, side }: MediaLimits): boolean {
  if (data.length > characters) return false;
  if (side === undefined || !mimeType.startsWith("image/")) return true;
  const size = imageSize(data, mimeType);
  return size !== undefined && size.width <= side && size.height <= side;
}

interface Labelled {
  data: string;
  mimeType?: string | undefined;
}

function plainMedium(part: Labelled): Medium | undefined {
  // Line ends and the label of a data URL come on top.
  if (part.data.length > mostCharacters) return undefined;
  const [, given, inUrl] = /^data:([\w.+/-]*)[^,]*;base64,(.*)$/s.exec(part.data) ?? [];
  const mimeType = (part.mimeType ?? given ?? "").toLowerCase().replace("image/jpg", "image/jpeg");
  const data = plainBase64(inUrl ?? part.data);
  if (data === undefined || !Object.hasOwn(taken, mimeType)) return undefined;
  const beginning = Buffer.from(data.slice(0, 24), "base64").toString("latin1");
  return taken[mimeType]?.test(beginning) ? { data, mimeType } : undefined;
}

/** Without line ends and URL-safe letters, and padded; undefined for what is no base64. */
function plainBase64(data: string): string | undefined {
  const plain = /[\s_-]/.test(data)
    ? data.replaceAll(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/")
    : data;
  const [, digits = ""] = /^([A-Za-z0-9+/]+)={0,2}$/.exec(plain) ?? [];
  if (digits === "" || digits.length % 4 === 1) return undefined;
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}
