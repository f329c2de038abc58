// A fast hash of a text. Not cryptographic.

/** Called detached for speed; see tokens/estimate/estimate.ts. */
const unitAt = String.prototype.charCodeAt

/** Two FNV-1a halves, 53 bits together, which a number can hold. */
export function hashText(text: string): number {
  let low = 0x811c9dc5
  let high = 0x01000193
  const { length } = text
  for (let at = 0; at < length; at++) {
    const code = unitAt.call(text, at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code ^ (low >>> 13), 0x85ebca6b)
  }
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0)
}
