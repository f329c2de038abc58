// The second alphabet of the token estimator, for how strange the letters of a text are: as if from a language in Latin
// letters that vocabularies hold little of. Shared with the script that fits the scores; it holds no scores itself.

export const latinAccent = 26
export const latinBeyond = 27
/** White space and the marks of sentences: what words stand between. */
export const gap = 28
/** Digits and the marks of code, which no language has between its words. */
export const codeMark = 29
export const otherScript = 30
/** A power of two, so that a pair of letters is found by shifting. */
export const letterBits = 5

/** Characters that every stretch is scored as if it had besides its own, unremarkable ones: a few words prove little. */
export const ballast = 100
/** A stretch is scored by itself: a text may be in several languages, and mostly code. */
export const stretch = 2_048
/** What of it is listened to before it is believed to be nothing special. */
export const probe = 512
/** In fewer characters than this nothing is strange: a name or a path is no language. */
export const fewest = 128
/** However strange the letters are, a text has no more than this much above its estimate. */
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
