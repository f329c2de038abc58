// How the fitted numbers are stored in weights.ts: one printable character per number below 88, from '#' on, without
// the backslash. Used by the script that writes them and by the estimator.

const mostLevels = 88
const scoreSteps = 12
const scoreZero = 44

export function charOf(level: number): string {
  return String.fromCharCode(level < 57 ? level + 35 : level + 36)
}

export function levelAt(packed: string, index: number): number {
  const code = packed.charCodeAt(index)
  return code > 92 ? code - 36 : code - 35
}

/** Stored as a square, so that small weights have a finer resolution. */
export function levelOfTokens(tokens: number): number {
  return Math.min(mostLevels - 1, Math.round(Math.sqrt(tokens * 1536)))
}

export function tokensOfLevel(level: number): number {
  return level ** 2 / 1536
}

export function tokensAt(packed: string, index: number): number {
  return tokensOfLevel(levelAt(packed, index))
}

/** Three rarities (0–2) per character. */
export function packRarities(rarities: readonly number[]): string {
  const triple = (at: number) => (rarities[at] ?? 0) + 3 * (rarities[at + 1] ?? 0) + 9 * (rarities[at + 2] ?? 0)
  return Array.from({ length: Math.ceil(rarities.length / 3) }, (_, index) => charOf(triple(index * 3))).join('')
}

export function rarityAt(packed: string, offset: number): number {
  return Math.floor(levelAt(packed, Math.floor(offset / 3)) / 3 ** (offset % 3)) % 3
}

/** How unusual a pair of letters is; negative for well-known languages. */
export function levelOfScore(score: number): number {
  return Math.max(0, Math.min(mostLevels - 1, Math.round(score * scoreSteps) + scoreZero))
}

export function scoreOfLevel(level: number): number {
  return (level - scoreZero) / scoreSteps
}

export function scoreAt(packed: string, index: number): number {
  return scoreOfLevel(levelAt(packed, index))
}
