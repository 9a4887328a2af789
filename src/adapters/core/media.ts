/** How many media a model may still be given. */
export interface MediaBudget {
  left: number;
}

const mostMedia = 20;
const mostBytes = 5 * 1024 * 1024;

/** The media that one result, prompt or text with mentions may have; none for a model without eyes and ears. */
export function mediaBudget(isWanted: boolean): MediaBudget {
  return { left: isWanted ? mostMedia : 0 };
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

/** A medium in plain base64; undefined if it is not what its label says, too large, or nothing that providers take. */
export function takenMedium(part: {
  data: string;
  mimeType?: string | undefined;
}): { data: string; mimeType: string } | undefined {
  // Line ends and the label of a data URL come on top.
  if (part.data.length > mostBytes * 1.5) return undefined;
  const [, given, inUrl] = /^data:([\w.+/-]*)[^,]*;base64,(.*)$/s.exec(part.data) ?? [];
  const mimeType = (part.mimeType ?? given ?? "").toLowerCase().replace("image/jpg", "image/jpeg");
  const data = plainBase64(inUrl ?? part.data);
  if (data === undefined || data.length > (mostBytes * 4) / 3 || !Object.hasOwn(taken, mimeType))
    return undefined;
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
