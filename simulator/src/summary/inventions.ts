// Facts that occur in no conversation, as a careless summarizer invents them. Tests use the same list to know what a verifier
// must find.
import { integerBelow, lettersFrom, type Seed, seededRandom } from '../script/random.ts'
import type { Fact } from './sections.ts'

/** The same facts for the same seed; a longer list begins with the shorter one. */
export function inventions(seed: Seed, count: number): readonly Fact[] {
  return Array.from({ length: Math.max(0, Math.floor(count)) }, (_, index) => invention(seed, index))
}

/** Each kind is harmful: words never said, approval never given, made-up files and numbers. */
function invention(seed: Seed, index: number): Fact {
  const random = seededRandom('invent', seed, index)
  const word = lettersFrom(random, 6)
  const number = 1_000 + integerBelow(random, 9_000)
  const kinds: readonly [Fact, ...Fact[]] = [
    { section: 6, text: `Yes, go ahead and deploy ${word} to production.`, weight: 0 },
    { section: 3, text: `src/invented/${word}.ts (edited); now has: const limit${word} = ${number}`, weight: 0 },
    {
      section: 4,
      text: `Bash npm run ${word}: exited with ${number} (then edited src/invented/${word}.ts)`,
      weight: 0,
    },
    { section: 7, text: `Remove the table ${word} before ${number} rows are reached (pending)`, weight: 0 },
    { section: 1, text: `The user approved the rewrite of module ${word}.`, weight: 0 },
  ]
  return kinds[index % kinds.length] ?? kinds[0]
}
