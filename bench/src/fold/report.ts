// `npm run bench -- fold`: how long it takes to fold a transcript of 100,000 entries into the view, beside a bare pass
// that only reads each entry's head, and whether one more entry costs more in a long conversation.
import { performance } from 'node:perf_hooks'
import { repairRequest } from 'everlong'
import { generateSession } from 'everlong/testing'
import { createFold, type Entry, editRecord, foldEntries, headOf } from 'everlong/transcript'
import { median, writeResults } from '../results.ts'

const entries = 100_000
const rounds = 9
const steps = 200

type Folded = {
  readonly name: string
  readonly messages: number
  readonly milliseconds: number
  readonly headsMilliseconds: number
  readonly repairMilliseconds: number
}

type Step = { readonly entries: number; readonly entryMicroseconds: number; readonly editMicroseconds: number }

export function run(): void {
  const whole = sessionOf({ boundaries: 0 })
  const folded = [
    foldCost('no compaction: all of it is in view', whole),
    foldCost('40 compactions: the last epoch is in view', sessionOf({ boundaries: 40 })),
  ]
  const added = [1_000, 10_000, 99_000].map((length) => stepCost(whole, length))
  writeResults('fold', {
    markdown: asMarkdown(folded, added),
    json: { node: process.versions.node, entries, folded, added },
  })
}

function sessionOf({ boundaries }: { readonly boundaries: number }): readonly Entry[] {
  const found: Entry[] = []
  const options = { seed: 7, turns: entries / 10, parallel: 0.3, boundaries, kept: 'before' as const }
  for (const record of generateSession(options)) {
    if (found.length === entries) break
    found.push({ record, position: { line: found.length + 1, offset: found.length, length: 1, nth: 0 } })
  }
  return found
}

function foldCost(name: string, all: readonly Entry[]): Folded {
  const fold: number[] = []
  const heads: number[] = []
  const repair: number[] = []
  let messages = 0
  // The first rounds warm up, and do not count.
  for (let round = -3; round < rounds; round++) {
    const took = [
      timed(() => {
        messages = foldEntries(all).messages.length
      }),
      timed(() => all.forEach(headOf)),
    ]
    const view = foldEntries(all)
    const repaired = timed(() => repairRequest(view.messages))
    if (round < 0) continue
    fold.push(took[0] ?? Number.NaN)
    heads.push(took[1] ?? Number.NaN)
    repair.push(repaired)
  }
  return {
    name,
    messages,
    milliseconds: median(fold),
    headsMilliseconds: median(heads),
    repairMilliseconds: median(repair),
  }
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

/** One entry more, or one edit more, and the view asked for each time. */
function stepCost(all: readonly Entry[], length: number): Step {
  const fold = createFold()
  for (const entry of all.slice(0, length)) fold.add(entry)
  const ids = fold
    .view()
    .messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
    )
  const entryTimes = all.slice(length, length + steps).map((entry) =>
    timed(() => {
      fold.add(entry)
      fold.view()
    }),
  )
  const editTimes = ids.slice(0, steps).map((id, at) => {
    const place = { uuid: `edit-${at}`, parentUuid: null, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
    const record = editRecord({ type: 'clear-results', toolUseIds: [id] }, place)
    return timed(() => {
      fold.add({ record, position: { line: 0, offset: 0, length: 0, nth: 0 } })
      fold.view()
    })
  })
  return {
    entries: length,
    entryMicroseconds: median(entryTimes) * 1000,
    editMicroseconds: median(editTimes) * 1000,
  }
}

function asMarkdown(folded: readonly Folded[], added: readonly Step[]): string {
  const lines = folded.map(
    ({ name, messages, milliseconds, headsMilliseconds, repairMilliseconds }) =>
      `| ${name} | ${messages} | ${Math.round(milliseconds)} | ${(milliseconds / headsMilliseconds).toFixed(1)} × | ${repairMilliseconds.toFixed(1)} |`,
  )
  const stepLines = added.map(
    (step) => `| ${step.entries} | ${step.entryMicroseconds.toFixed(0)} | ${step.editMicroseconds.toFixed(0)} |`,
  )
  return `# The fold

Written by \`npm run bench -- fold\` with Node ${process.versions.node}. Medians of ${rounds} rounds in which every way took its turn, in one
process, over generated sessions of ${entries} entries. Read the ratios: milliseconds are this machine's.

| transcript | messages in view | fold, ms | beside reading every head | repair of the view, ms |
| --- | --- | --- | --- | --- |
${lines.join('\n')}

## One more

Adding an entry, or an edit that clears one result, and asking for the view, which copies the list of its messages.

| entries before | entry, microseconds | edit, microseconds |
| --- | --- | --- |
${stepLines.join('\n')}
`
}
