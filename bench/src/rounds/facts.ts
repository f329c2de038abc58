// What is planted: facts of ten kinds, each told once in the way it comes up in a session, each with the words that must
// be there for it to have survived, and the question that somebody who has lost it would ask.
import type { JsonObject } from 'everlong/internal'

export type Kind = (typeof kinds)[number]
export const kinds = [
  'constraint',
  'decision',
  'path',
  'error cause',
  'number',
  'name',
  'command',
  'address',
  'symbol',
  'commit',
] as const

/** What is said in the turn besides its ordinary work. */
export type Told =
  | { readonly by: 'human'; readonly text: string }
  | { readonly by: 'assistant'; readonly text: string }
  | { readonly by: 'tool'; readonly name: string; readonly input: JsonObject; readonly result: string }

export type PlantedFact = {
  readonly kind: Kind
  readonly told: Told
  /** All of these must be in the context, or the fact is lost. */
  readonly needles: readonly string[]
  /** Without the answer in it. */
  readonly question: string
}

const roots = ['amber', 'birch', 'cobalt', 'dorado', 'ember', 'fennel', 'garnet', 'hazel', 'indigo', 'juniper']
const things = ['lantern', 'parcel', 'harbour', 'thistle', 'compass', 'meadow', 'anvil', 'ledger', 'turbine', 'quarry']

/** Two words that no other fact has, by its number. */
const wordOf = (n: number) => `${roots[n % 10]}-${things[Math.floor(n / 10) % 10]}${Math.floor(n / 100) || ''}`
const digitsOf = (n: number) => String(10_007 + ((n * 7_919) % 89_989))

const makers: Readonly<Record<Kind, (n: number) => Omit<PlantedFact, 'kind'>>> = {
  constraint: (n) => {
    const text = `Never change anything below vendor/${wordOf(n)} without asking me first.`
    return { told: { by: 'human', text }, needles: [text], question: `vendor ${wordOf(n)}` }
  },
  decision: (n) => ({
    told: {
      by: 'human',
      text: `We decided to keep the ${wordOf(n)} queue in Postgres with batch ${digitsOf(n)}, because Redis lost jobs.`,
    },
    needles: [`${wordOf(n)} queue`, digitsOf(n)],
    question: `decided ${wordOf(n)} queue`,
  }),
  path: (n) => ({
    told: {
      by: 'tool',
      name: 'Read',
      input: { file_path: `/home/dev/shop/src/${wordOf(n)}/router-${digitsOf(n)}.ts` },
      result: `1\texport const routes = []\n2\t// of ${wordOf(n)}`,
    },
    needles: [`src/${wordOf(n)}/router-${digitsOf(n)}.ts`],
    question: `router ${wordOf(n)}`,
  }),
  'error cause': (n) => ({
    told: {
      by: 'assistant',
      text: `The cause of the failing ${wordOf(n)} test is that the lease in ${wordOf(n)}.lock expires after ${digitsOf(n)} ms.`,
    },
    needles: [`${wordOf(n)}.lock`, digitsOf(n)],
    question: `cause failing ${wordOf(n)} test`,
  }),
  number: (n) => ({
    told: { by: 'human', text: `The limit for ${wordOf(n)} uploads must be ${digitsOf(n)} bytes.` },
    needles: [`${wordOf(n)} uploads`, digitsOf(n)],
    question: `limit ${wordOf(n)} uploads`,
  }),
  name: (n) => ({
    told: {
      by: 'human',
      text: `Ask Marta ${roots[n % 10]}son about the ${wordOf(n)} contract before you rename anything.`,
    },
    needles: [`Marta ${roots[n % 10]}son`, `${wordOf(n)} contract`],
    question: `${wordOf(n)} contract`,
  }),
  command: (n) => ({
    told: {
      by: 'tool',
      name: 'Bash',
      input: { command: `npm run verify:${wordOf(n)} -- --shard ${digitsOf(n)}`, description: 'Verify' },
      result: `${wordOf(n)}: all checks passed`,
    },
    needles: [`verify:${wordOf(n)}`],
    question: `verify ${wordOf(n)}`,
  }),
  address: (n) => ({
    told: {
      by: 'human',
      text: `The staging desk for ${wordOf(n)} is https://staging-${digitsOf(n)}.example.test/desk`,
    },
    needles: [`https://staging-${digitsOf(n)}.example.test/desk`],
    question: `staging desk ${wordOf(n)}`,
  }),
  symbol: (n) => ({
    told: {
      by: 'tool',
      name: 'Edit',
      input: {
        file_path: `/home/dev/shop/src/core/${wordOf(n)}.ts`,
        old_string: 'return total',
        new_string: `return settle${roots[n % 10]}${digitsOf(n)}(total)`,
      },
      result: `The file /home/dev/shop/src/core/${wordOf(n)}.ts has been updated.`,
    },
    needles: [`src/core/${wordOf(n)}.ts`, `settle${roots[n % 10]}${digitsOf(n)}`],
    question: `settle core ${wordOf(n)}`,
  }),
  commit: (n) => ({
    told: {
      by: 'tool',
      name: 'Bash',
      input: { command: `git commit -m "Sort the ${wordOf(n)} desk"`, description: 'Commit' },
      result: `[main ${hashOf(n)}] Sort the ${wordOf(n)} desk\n 2 files changed, 14 insertions(+)`,
    },
    needles: [hashOf(n), wordOf(n)],
    question: `commit Sort ${wordOf(n)} desk`,
  }),
}

const hashOf = (n: number) => ((n * 2_654_435_761 + 97) >>> 4).toString(16).padStart(7, '0').slice(-7)

export function plantedFacts(count: number): readonly PlantedFact[] {
  return Array.from({ length: count }, (_, n) => {
    const kind = kinds[n % kinds.length] ?? 'constraint'
    return { kind, ...makers[kind](n) }
  })
}
