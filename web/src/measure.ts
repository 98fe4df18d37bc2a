/** How wide text is on the screen. */

/** Width of a character in sizes of its font, where no browser measures: that of a wide sans-serif font's bold digits. */
const WIDE = 0.7;

const context = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
const known = new Map<string, number>();

/** Width of a text in the page's font at a size and weight, pixels. */
export function width(text: string, size: number, weight = 400): number {
  if (!context) return text.length * size * WIDE;
  const key = `${weight} ${size} ${text}`;
  let found = known.get(key);
  if (found === undefined) {
    context.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    found = context.measureText(text).width;
    if (known.size > 5000) known.clear();
    known.set(key, found);
  }
  return found;
}

/** A text that is no wider than so many pixels: what is too much goes from its middle, since names of paths differ at both ends. */
export function shortened(text: string, most: number, size: number, weight = 400): string {
  if (width(text, size, weight) <= most) return text;
  const letters = [...text];
  for (let left = letters.length - 1; left > 1; left--) {
    const head = Math.floor(left / 3);
    const short = `${letters.slice(0, head).join("")}\u2026${letters.slice(letters.length - (left - head)).join("")}`;
    if (width(short, size, weight) <= most) return short;
  }
  return "\u2026";
}
