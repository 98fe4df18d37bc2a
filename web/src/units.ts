/**
 * Figures in units, written exactly as crates/units writes them (test/units.json is checked against both).
 * Sizes are bytes, times seconds, rates bits a second.
 */

export type Kind = "seconds" | "bitsPerSecond" | "bytes" | "percent" | "count";

const SCALES: Record<Kind, readonly (readonly [string, number])[]> = {
  seconds: [["ns", 1e-9], ["us", 1e-6], ["ms", 1e-3], ["s", 1]],
  bitsPerSecond: [["bit/s", 1], ["kbit/s", 1e3], ["Mbit/s", 1e6], ["Gbit/s", 1e9], ["Tbit/s", 1e12]],
  bytes: [["B", 1], ["KiB", 1024], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]],
  percent: [["%", 1]],
  count: [["", 1]],
};

/** Three significant digits (whole numbers from 1000 on), and the decimals that show them. */
function round(x: number): { value: number; decimals: number } {
  if (x === 0) return { value: 0, decimals: 0 };
  const decimals = (v: number) => Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v)))));
  const at = (d: number) => {
    const scaled = Math.round(x * 10 ** d) / 10 ** d;
    return Number.isFinite(scaled) ? scaled : x;
  };
  const value = at(decimals(x));
  // Rounding may have carried into one more digit (9.996 to 10.0), which then needs a decimal less.
  return { value, decimals: decimals(value === 0 ? x : value) };
}

/** Numbers below and from which digits before or behind the point tell a reader nothing. */
const LEAST = 1e-6;
const MOST = 1e9;

/** Most decimals of an interval's ends about 0, which has none of its own. */
const ZERO = 9;

/** Most decimals of an end, enough for the least number that is written without an exponent. */
const MOST_DECIMALS = 12;

/** Ends of an interval that lie further apart than this tell a reader nothing. */
const WIDEST = 1e3;

/** Whether a number in its unit is written with an exponent. */
function extreme(x: number): boolean {
  return x !== 0 && !(Math.abs(x) >= LEAST && Math.abs(x) < MOST);
}

/** Three significant digits and a power of ten. */
function exponent(x: number): string {
  return x === 0 ? "0" : x.toExponential(2).replace("e+", "e");
}

/** Rounds an interval's end away from the value. */
function outward(x: number, decimals: number, up: boolean): number {
  const scaled = x * 10 ** decimals;
  const slack = Math.abs(scaled) * 1e-12 + 1e-9;
  return (up ? Math.ceil(scaled - slack) : Math.floor(scaled + slack)) / 10 ** decimals;
}

/** The same to three significant digits. */
function outwardDigits(x: number, up: boolean): number {
  const ten = 10 ** Math.floor(Math.log10(Math.abs(x)));
  const rounded = outward(x / ten, 2, up) * ten;
  return Number.isFinite(rounded) ? rounded : x;
}

function unitFor(value: number, kind: Kind): readonly [string, number] {
  const scale = SCALES[kind];
  const plain = scale.find(([, factor]) => factor === 1) ?? scale[0]!;
  if (value === 0) return plain;
  let best = scale[0]!;
  for (let i = 1; i < scale.length; i++) {
    const next = scale[i]!;
    if (round(Math.abs(value) / best[1]).value * best[1] < next[1] * (1 - 1e-9)) break;
    best = next;
  }
  return best;
}

function grouped(x: number, decimals: number): string {
  const [whole = "0", fraction] = Math.abs(x).toFixed(decimals).split(".");
  const commas = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${x < 0 ? "-" : ""}${commas}${fraction ? `.${fraction}` : ""}`;
}

/** `9.23 us`, `37.2 Gbit/s`. A value that is no number is "unknown". */
export function significant(value: number, kind: Kind): string {
  if (!Number.isFinite(value)) return "unknown";
  const [unit, factor] = unitFor(value, kind);
  if (extreme(value / factor)) return `${exponent(value / factor)} ${unit}`;
  const r = round(value / factor);
  return `${grouped(r.value, r.decimals)} ${unit}`;
}

/** As `significant` without trailing zeros, for ticks: `10 us`, `2.5 Gbit/s`. */
export function short(value: number, kind: Kind): string {
  if (!Number.isFinite(value)) return "unknown";
  const [unit, factor] = unitFor(value, kind);
  if (extreme(value / factor)) return `${exponent(value / factor).replace(/\.?0+e/, "e")} ${unit}`.trimEnd();
  const r = round(value / factor);
  const number = grouped(r.value, r.decimals);
  return `${r.decimals > 0 ? number.replace(/\.?0+$/, "") : number} ${unit}`.trimEnd();
}

/** A share with its sign, as the command prints it: `+12.5%`, `+3,400%`. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "unknown";
  const v = share * 100;
  return `${v > 0 ? "+" : ""}${grouped(v, Math.abs(v) < 99.95 ? 1 : 0)}%`;
}

/** A count, thousands apart. */
export function count(n: number): string {
  return grouped(n, 0);
}

/**
 * An interval's end, rounded outwards to `decimals`, or to as many more as keep an end apart from 0 where rounding would
 * reach it.
 */
function endText(x: number, decimals: number, up: boolean): string {
  if (extreme(x)) return exponent(outwardDigits(x, up));
  let digits = decimals;
  if (x !== 0) while (digits < MOST_DECIMALS && outward(x, digits, up) === 0) digits++;
  return grouped(outward(x, digits, up), digits);
}

/**
 * `9.23 us [8.9, 9.6]`: ends rounded outwards, with the digits that the interval's width gives them, or those that keep
 * an end apart from 0. Where nothing bounds an end, or the ends lie more than a thousandfold apart: `9.23 us (no interval)`.
 */
export function withInterval(value: number, low: number, high: number, kind: Kind): string {
  if (!Number.isFinite(value)) return "unknown";
  // Ends about 0 are in the unit in which they read best.
  const [unit, factor] = unitFor(value === 0 && Number.isFinite(low) && Number.isFinite(high) ? Math.max(Math.abs(low), Math.abs(high)) : value, kind);
  if (!Number.isFinite(low) || !Number.isFinite(high) || (low > 0 && high / low > WIDEST)) {
    return `${significant(value, kind)} (no interval)`;
  }
  if (extreme(value / factor) || Math.max(Math.abs(low), Math.abs(high)) / factor >= MOST) {
    const end = (v: number, up: boolean) => exponent(outwardDigits(v / factor, up));
    return `${exponent(value / factor)} ${unit} [${end(low, false)}, ${end(high, true)}]`;
  }
  const r = round(value / factor);
  const half = (high - low) / factor / 2;
  const most = value === 0 ? ZERO : r.decimals;
  const digits = half > 0 ? Math.min(most, Math.max(0, -Math.floor(Math.log10(half)))) : r.decimals;
  const end = (v: number, up: boolean) => endText(v / factor, digits, up);
  return `${grouped(r.value, r.decimals)} ${unit} [${end(low, false)}, ${end(high, true)}]`;
}

/** A figure whose rounds give no interval, with their range: `9.23 us (-, 2 rounds: 8.90 us to 9.60 us)`. */
export function spanned(value: number, rounds: number, low: number, high: number, kind: Kind): string {
  const range = rounds === 1 ? "1 round" : `${rounds} rounds: ${significant(low, kind)} to ${significant(high, kind)}`;
  return `${significant(value, kind)} (-, ${range})`;
}

/** A size exactly: `64 KiB`, `1.5 MiB` where that is exact, otherwise `98,307 B`. */
export function size(bytes: number): string {
  for (const [unit, factor] of [...SCALES.bytes].reverse()) {
    if (factor === 1 || bytes < factor) continue;
    const r = round(bytes / factor);
    if (r.value < 1024 && r.value * factor === bytes) {
      const text = grouped(r.value, r.decimals);
      return `${r.decimals > 0 ? text.replace(/\.?0+$/, "") : text} ${unit}`;
    }
  }
  return `${grouped(bytes, 0)} B`;
}

/** Reads a size as the command does: `100`, `64KiB`, `1.5 MiB`, `64 kB`. Nothing if it is not one. */
export function parseSize(text: string): number | undefined {
  const match = /^\s*([\d,]*\.?\d+)\s*(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB)?\s*$/.exec(text);
  if (!match) return undefined;
  const binary = SCALES.bytes.find(([unit]) => unit === match[2])?.[1];
  const decimal = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }[match[2] ?? ""];
  const bytes = Number(match[1]!.replaceAll(",", "")) * (binary ?? decimal ?? 1);
  return Number.isFinite(bytes) ? Math.round(bytes) : undefined;
}

/** Micro as print has it; the command writes plain ASCII. */
export function pretty(text: string): string {
  return text.replace(/(^| )us\b/g, "$1µs");
}
