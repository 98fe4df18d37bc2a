/** Finding places in ascending columns. */

/** Index of the first value that is not below `v`; the length where all are. */
export function lowerBound(values: ArrayLike<number>, v: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < v) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the value nearest by ratio; -1 of none. */
export function nearest(values: ArrayLike<number>, v: number): number {
  const at = Math.min(lowerBound(values, v), values.length - 1);
  const before = values[at - 1];
  const here = values[at];
  return before !== undefined && here !== undefined && Math.abs(Math.log(v / before)) < Math.abs(Math.log(here / v)) ? at - 1 : at;
}
