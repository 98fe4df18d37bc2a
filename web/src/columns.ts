/** Columns of numbers as the page carries them: little-endian binary in base64 (crates/report/src/html/columns.rs). */

/** Bytes of a text. */
export function bytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}


/** Numbers, a missing one as NaN; an empty text stands for `length` missing ones. */
export function floats(text: string, length: number): Float32Array {
  return text === "" ? new Float32Array(length).fill(NaN) : new Float32Array(bytes(text).buffer);
}

/** Whole numbers, exact to 2^53. */
export function sizes(text: string): Float64Array {
  return new Float64Array(bytes(text).buffer);
}

/** Whole numbers of 32 bits. */
export function counts(text: string): Uint32Array {
  return new Uint32Array(bytes(text).buffer);
}

/** Yes (1) and no; an empty text stands for `length` times no. */
export function flags(text: string, length: number): Uint8Array {
  return text === "" ? new Uint8Array(length) : bytes(text);
}

/** Reads numbers of seven bits a byte, the lowest first (LEB128), from a place on. */
export class Varints {
  constructor(
    private readonly data: Uint8Array,
    public at = 0,
  ) {}

  next(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.data[this.at++];
      if (byte === undefined) return value;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  }
}

/** A number as it was before 32 bits took its last digits: the page's columns hold seven. */
export function exact(v: number): number {
  return Number(v.toPrecision(7));
}
