// Writes the fitted numbers as the texts in weights.ts. How they are read: unpackRows and unpackRarities in estimate.ts.
import { copyMark, maxGap, scoreOfLevel, tokensOfLevel } from '../../../engine/src/core/tokens/estimate/estimate.ts'

const mostLevels = 88

export function charOf(level: number): string {
  return String.fromCharCode(level < 57 ? level + 35 : level + 36)
}

/** Stored as a square root, so that small weights have a finer resolution. */
export function levelOfTokens(tokens: number): number {
  return Math.min(mostLevels - 1, Math.round(Math.sqrt(tokens / tokensOfLevel(1))))
}

/** How unusual a pair of letters is; negative for well-known languages. */
export function levelOfScore(score: number): number {
  const [zero, step] = [scoreOfLevel(0), scoreOfLevel(1) - scoreOfLevel(0)]
  return Math.max(0, Math.min(mostLevels - 1, Math.round((score - zero) / step)))
}

/** Rows of `width` levels. Two or more that are as in the row above become a copy mark and their number. */
export function packRows(levels: readonly number[], width: number): string {
  const isCopy = (at: number) => at >= width && at < levels.length && levels[at] === levels[at - width]
  let packed = ''
  for (let at = 0; at < levels.length; ) {
    let copies = 0
    while (copies < mostLevels - 1 && isCopy(at + copies)) copies++
    packed += copies > 1 ? copyMark + charOf(copies) : charOf(levels[at] ?? 0)
    at += Math.max(1, copies)
  }
  return packed
}

/** How many ordinary characters (1) come before each that is common (0) or very rare (2), and which it is. */
export function packRarities(rarities: readonly number[]): string {
  let packed = ''
  let gap = 0
  for (const rarity of rarities) {
    if (rarity !== 1) packed += charOf(2 * gap + rarity / 2)
    else if (gap + 1 === maxGap) packed += charOf(2 * maxGap)
    gap = rarity !== 1 || gap + 1 === maxGap ? 0 : gap + 1
  }
  return packed
}
