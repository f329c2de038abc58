// The second alphabet of the token estimator: scores how unusual the letters of a text are, as in languages in Latin
// script that vocabularies know little of. Shared with the script that fits the scores.

export const latinAccent = 26
export const latinBeyond = 27
/** White space and punctuation. */
export const gap = 28
/** Digits and symbols of code. */
export const codeMark = 29
export const otherScript = 30
/** Bits of a letter: a pair is found by shifting. */
export const letterBits = 5

/** Neutral characters added to every stretch: a few words prove little. */
export const ballast = 100
/** Scored separately: a text may mix languages and code. */
export const stretch = 2_048
/** The part of a stretch that is always scored. */
export const probe = 512
/** Shorter texts are not scored: a name or path is no language. */
export const fewest = 128
/** The largest increase over the estimate. */
export const mostExtra = 0.9

export const letterOf: Uint8Array = classify()

function classify(): Uint8Array {
  const letters = new Uint8Array(65_536).fill(otherScript)
  letters.fill(gap, 0, 0x80)
  for (const mark of '_0123456789{}()[]<>=;\\/*+|&#$@^~`') letters[mark.charCodeAt(0)] = codeMark
  for (let index = 0; index < 26; index++) {
    letters[0x41 + index] = index
    letters[0x61 + index] = index
  }
  letters.fill(gap, 0x80, 0xc0)
  letters.fill(latinAccent, 0xc0, 0x100)
  letters.fill(latinBeyond, 0x100, 0x370)
  letters.fill(latinBeyond, 0x1e00, 0x1f00)
  letters.fill(gap, 0x2000, 0x2070)
  return letters
}
