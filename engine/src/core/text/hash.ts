// A short number for a text: equal texts have equal hashes, and different ones hardly ever do. Not for secrets.

/** Called detached for speed on any string; tokens/estimate/estimate.ts has the measurements. */
const unitAt = String.prototype.charCodeAt

/** FNV-1a over two halves: 53 bits, which is what a number holds. */
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
