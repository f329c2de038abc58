// The text the estimator is fitted on and measured with, cut into samples. The same samples in every run.
import { type Random, randomFrom } from '../random.ts'
import { mixedSamples } from './mixed.ts'
import { type PackedFile, packageFiles } from './packages.ts'
import type { Part, Sample, Source, Split } from './sample.ts'
import { sources } from './sources.ts'
import { synthetic } from './synthetic.ts'

const sampleLengths = [150, 400, 1_000, 2_500, 8_000]
const maxSamples = 90
/** These hold many languages each. */
const mixed = ['other-scripts', 'latin-languages', 'labels', 'rare-scripts', 'rare-languages']

/** The samples of one split, the same in every run. */
export function samplesOf(split: Split): readonly Sample[] {
  const chosen = sources.filter((source) => source.split === split)
  const shelves = chosen.map(({ name }) => ({ name, files: packageFiles(name) }))
  const real = chosen.flatMap((source, index) => samplesOfSource(source, shelves[index]?.files ?? []))
  return [...real, ...mixedSamples(split, shelves), ...(split === 'fresh' ? [] : synthetic(split))]
}

function samplesOfSource(source: Source, files: readonly PackedFile[]): readonly Sample[] {
  return source.parts.flatMap((part) =>
    samplesOfPart(source.name, { part, files: files.filter(({ path }) => part.files.test(path)) }),
  )
}

function samplesOfPart(
  name: string,
  { part, files }: { readonly part: Part; readonly files: readonly PackedFile[] },
): readonly Sample[] {
  const whole = files.map((file) => (part.read ?? String)(file.text()).replaceAll('\r\n', '\n')).join('\n\n')
  if (whole.length < 400) throw new Error(`${name} has no text for ${part.category}`)
  const random = randomFrom(whole.length)
  const count = Math.min(mixed.includes(part.category) ? 3 * maxSamples : maxSamples, Math.ceil(whole.length / 500))
  return Array.from({ length: count }, (_, index) => ({
    category: part.category,
    source: name,
    text: cut(whole, sampleLengths[index % sampleLengths.length] ?? 400, random),
  }))
}

/** A stretch of about this length that does not begin in the middle of a character. */
function cut(whole: string, length: number, random: Random): string {
  const from = random.below(Math.max(1, whole.length - length))
  return whole
    .slice(from, from + length)
    .toWellFormed()
    .replaceAll('\ufffd', '')
}
