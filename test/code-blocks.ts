export interface CodeBlock {
  language: string;
  text: string;
  /** The heading above it. */
  heading: string;
}

/** The fenced code of a Markdown page, in order. */
export function codeBlocks(page: string): CodeBlock[] {
  const fence = /^```(\w*)\n(.*?)^```$/gms;
  return [...page.matchAll(fence)].map(({ 1: language = "", 2: text = "", index }) => {
    const above = page.slice(0, index).replaceAll(fence, "");
    return {
      language,
      text,
      heading:
        above
          .match(/^#+ .*$/gm)
          ?.at(-1)
          ?.replace(/^#+ /, "") ?? "",
    };
  });
}
