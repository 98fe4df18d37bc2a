/** Finds room for short labels beside what they name. */

import type { Box, Pixel } from "./axes";
import { width as wide } from "./measure";

/** Height of a line; size and weight of its text (.fit text, .mark text, .quantiles text in style.css). */
const [HIGH, SIZE, WEIGHT] = [16, 12, 600];

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Labels that keep clear of each other. One that finds no room is left out. */
export class Labels {
  private readonly taken: Rectangle[] = [];

  /** `avoid` are places that a text should not cover, if it can help it: those of the curves. */
  constructor(
    private readonly box: Box,
    private readonly avoid: readonly Pixel[] = [],
  ) {}

  /** Left end and base line of a text near a place: beside it, then further off, within the box, where it covers least. */
  near(x: number, y: number, text: string): readonly [number, number] | undefined {
    const width = wide(text, SIZE, WEIGHT);
    let best: Rectangle | undefined;
    let least = Infinity;
    for (const up of [-7, 17, -24, 34, -41, 51, -58, 68, -75, 85]) {
      for (const left of [x + 9, x - 9 - width, x - width / 2]) {
        const here = { x: left, y: y + up, width };
        if (!this.free(here)) continue;
        // Far off it would no longer be read as this place's.
        const cost = this.covered(here) + Math.abs(up) / 25;
        if (cost < least) [best, least] = [here, cost];
      }
    }
    return best && this.take(best);
  }

  /** The same in the first free row from the top, about a place. */
  row(x: number, text: string): readonly [number, number] | undefined {
    const width = wide(text, SIZE, WEIGHT);
    const left = Math.min(this.box.right - width - 2, Math.max(this.box.left + 2, x - width / 2));
    for (let row = 0; row < 6; row++) {
      const here = { x: left, y: this.box.top + 13 + row * HIGH, width };
      if (this.free(here)) return this.take(here);
    }
    return undefined;
  }

  private free({ x, y, width }: Rectangle): boolean {
    const { left, right, top, bottom } = this.box;
    if (x < left + 1 || x + width > right || y - 13 < top || y > bottom - 3) return false;
    return !this.taken.some((t) => x < t.x + t.width + 4 && t.x < x + width + 4 && Math.abs(y - t.y) < HIGH);
  }

  private covered({ x, y, width }: Rectangle): number {
    let count = 0;
    for (const [px, py] of this.avoid) if (px > x - 3 && px < x + width + 3 && py > y - 13 && py < y + 5) count++;
    return count;
  }

  private take(here: Rectangle): readonly [number, number] {
    this.taken.push(here);
    return [here.x, here.y];
  }
}
