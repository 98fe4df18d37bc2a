/** Axes: where a value lies, which values get a tick. The same rules as crates/report/src/scale.rs. */

import { short, type Kind } from "./units";

export type Spread = "linear" | "log";

export interface Scale {
  readonly spread: Spread;
  readonly low: number;
  readonly high: number;
}

export interface Tick {
  readonly value: number;
  /** Nothing for a minor tick. */
  readonly label?: string;
}

/** Share of the way along the axis: 0 at its start, 1 at its end. NaN where a value has no place. */
export function place(s: Scale, value: number): number {
  if (s.spread === "linear") return (value - s.low) / (s.high - s.low);
  return value > 0 ? Math.log(value / s.low) / Math.log(s.high / s.low) : NaN;
}

/** The value at a share of the way. */
export function invert(s: Scale, share: number): number {
  return s.spread === "linear" ? s.low + share * (s.high - s.low) : s.low * (s.high / s.low) ** share;
}

/** An axis that holds low to high with a little room. A linear axis of rates or times holds zero. */
export function covering(spread: Spread, kind: Kind, low: number, high: number): Scale | undefined {
  if (!(high >= low && Number.isFinite(high) && Number.isFinite(low))) return undefined;
  if (low <= 0) {
    if (spread === "log") return undefined;
    const room = (Math.max(high, 0) - low) * 0.05 || 1;
    return { spread, low: low - (low < 0 ? room : 0), high: Math.max(high, 0) + room };
  }
  const share = kind === "bytes" ? 0.015 : 0.04;
  if (spread === "linear") {
    if (kind === "bytes" && low > high / 20) {
      const room = Math.max((high - low) * share, high * 0.005);
      return { spread, low: low - room, high: high + room };
    }
    return { spread, low: 0, high: high * 1.05 };
  }
  if (high / low < 1.02) return { spread, low: low / 2, high: high * 2 };
  const pad = (high / low) ** share;
  return { spread, low: low / pad, high: high * pad };
}

/** About `about` labelled ticks and minor ones between, and the unit that all labels share, if they share one. */
export function ticks(s: Scale, kind: Kind, about: number): { ticks: Tick[]; unit?: string } {
  const most = Math.max(2, about);
  const { major, minor } = values(s, kind, most);
  let labels = major.map((v) => (v === 0 ? "0" : short(v, kind)));
  const units = labels.filter((l) => l !== "0").map((l) => l.split(" ")[1]);
  const unit = units.length > 1 && units.every((u) => u === units[0]) ? units[0] : undefined;
  if (unit !== undefined) labels = labels.map((l) => l.split(" ")[0]!);
  const all: Tick[] = major.map((value, i) => ({ value, label: labels[i]! }));
  for (const value of minor) {
    if (!major.some((m) => Math.abs(m / value - 1) < 1e-9)) all.push({ value });
  }
  all.sort((a, b) => a.value - b.value);
  return unit === undefined ? { ticks: all } : { ticks: all, unit };
}

function values(s: Scale, kind: Kind, about: number): { major: number[]; minor: number[] } {
  if (s.spread === "linear") return { major: kind === "bytes" ? binarySteps(s, about) : roundSteps(s, about), minor: [] };
  return kind === "bytes" ? octaves(s, about) : decades(s, about);
}

function multiples(s: Scale, step: number): number[] {
  const first = Math.ceil(s.low / step - 1e-9);
  const last = Math.min(Math.floor(s.high / step + 1e-9), first + 100);
  const out = [];
  for (let i = first; i <= last; i++) out.push(i * step);
  return out;
}

function roundSteps(s: Scale, about: number): number[] {
  const raw = (s.high - s.low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= raw * 0.999) ?? 10 * power;
  // Multiplying by a step below one leaves crumbs such as 0.30000000000000004.
  return multiples(s, step).map((v) => Number(v.toPrecision(12)));
}

function binarySteps(s: Scale, about: number): number[] {
  return multiples(s, 2 ** Math.ceil(Math.log2(Math.max(1, (s.high - s.low) / about))));
}

function octaves(s: Scale, about: number): { major: number[]; minor: number[] } {
  const first = Math.ceil(Math.log2(s.low) - 1e-9);
  const last = Math.floor(Math.log2(s.high) + 1e-9);
  if (last - first < 2) return { major: binarySteps(s, about), minor: [] };
  const at = (step: number) => {
    const out = [];
    for (let e = first; e <= last; e++) if (e % step === 0) out.push(2 ** e);
    return out;
  };
  const step = [1, 2, 4, 5, 10, 20, 40, 100].find((n) => at(n).length <= about) ?? 200;
  return { major: at(step), minor: at(1) };
}

function decades(s: Scale, about: number): { major: number[]; minor: number[] } {
  const first = Math.floor(Math.log10(s.low));
  const last = Math.ceil(Math.log10(s.high));
  const of = (factors: number[], step: number) => {
    const out = [];
    for (let e = first; e <= last; e++) {
      if (e % step !== 0) continue;
      for (const m of factors) {
        const v = Number(`${m}e${e}`);
        if (v >= s.low * (1 - 1e-9) && v <= s.high * (1 + 1e-9)) out.push(v);
      }
    }
    return out;
  };
  const choices = [of([1, 2, 5], 1), ...[1, 2, 3, 6, 12, 24, 50, 100, 200].map((step) => of([1], step))];
  const major = choices.find((c) => c.length <= about) ?? [];
  if (major.length < 2) return { major: roundSteps(s, about), minor: [] };
  return { major, minor: last - first <= 12 ? of([1, 2, 3, 4, 5, 6, 7, 8, 9], 1) : [] };
}
