/** What one terminal shows: a line that was typed, and what was printed, with the escape sequences of its colours. */
export interface Screen {
  title: string;
  text: string;
}

const font =
  'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';
const cell = { width: 8, height: 19 };
const padding = 16;
const titleBar = 32;
/** Colours by the number that selects them in an escape sequence. */
const styles: Readonly<Record<string, string>> = {
  1: "font-weight:bold",
  2: "fill:#8b949e",
  31: "fill:#ff7b72",
  32: "fill:#7ee787",
  33: "fill:#e3b341",
  36: "fill:#79c0ff",
};

/** Draws terminals one below the other, as SVG. */
export function terminalPicture(screens: readonly Screen[]): string {
  const all = screens.map(({ title, text }) => ({ title, lines: text.trimEnd().split("\n") }));
  const columns = Math.max(...all.flatMap(({ lines }) => lines.map((line) => plainText(line).length)));
  const width = columns * cell.width + 2 * padding;
  let top = 0;
  const drawn = all.map(({ title, lines }) => {
    const height = titleBar + lines.length * cell.height + padding;
    const terminal = drawTerminal(title, lines, { top, width, height });
    top += height + padding;
    return terminal;
  });
  const size = `width="${width}" height="${top - padding}" viewBox="0 0 ${width} ${top - padding}"`;
  const style = `text{font:13px ${font};fill:#e6edf3;white-space:pre}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    `<style>${style}</style>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

/** The words of such a picture, line by line. */
export function pictureText(svg: string): string {
  const lines = [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line = ""]) => line);
  return lines.map((line) => unescape(line.replaceAll(/<[^>]*>/g, ""))).join("\n");
}

/** The words of screens in the order in which a picture has them. */
export function screenText(screens: readonly Screen[]): string {
  const lines = screens.flatMap(({ title, text }) => [title, ...plainText(text).trimEnd().split("\n")]);
  return lines.filter((line) => line !== "").join("\n");
}

interface Box {
  top: number;
  width: number;
  height: number;
}

function drawTerminal(title: string, lines: readonly string[], { top, width, height }: Box): string {
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (colour, index) => `<circle cx="${padding + 4 + index * 18}" cy="${top + 16}" r="5" fill="${colour}"/>`,
  );
  const y = (row: number) => top + titleBar + row * cell.height + 14;
  return [
    `<rect x="0.5" y="${top + 0.5}" width="${width - 1}" height="${height - 1}" rx="8" fill="#0d1117" stroke="#30363d"/>`,
    ...dots,
    `<text x="${width / 2}" y="${top + 20}" text-anchor="middle" style="fill:#8b949e">${escape(title)}</text>`,
    ...lines.flatMap((line, row) => (line === "" ? [] : [drawLine(line, y(row))])),
  ].join("\n");
}

/** As wide as its characters are in a terminal, whatever font there is. */
function drawLine(line: string, y: number): string {
  const width = plainText(line).length * cell.width;
  return `<text x="${padding}" y="${y}" xml:space="preserve" textLength="${width}" lengthAdjust="spacingAndGlyphs">${coloured(line)}</text>`;
}

function coloured(line: string): string {
  let style: string | undefined;
  let result = "";
  for (const [index, part] of line.split(/\x1b\[([\d;]*)m/).entries()) {
    // Every second part is a number that selects a colour, or one that ends it.
    if (index % 2 === 1) style = styles[part];
    else if (part !== "") result += style ? `<tspan style="${style}">${escape(part)}</tspan>` : escape(part);
  }
  return result;
}

const plainText = (text: string): string => text.replaceAll(/\x1b\[[\d;]*m/g, "");

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const unescape = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
