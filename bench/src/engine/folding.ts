// How long it takes to fold a transcript of 100,000 entries into the view, beside a bare pass that only reads each
// entry's head, and whether one more entry or one more edit costs more in a long conversation.
import { createFold, type Entry, editRecord, foldEntries, headOf, repairRequest, type View } from 'everlong/transcript'
import { median } from '../results.ts'
import { entriesOf, timed } from './sessions.ts'

const entries = 100_000
const rounds = 9
const steps = 200

export type Folded = {
  readonly name: string
  readonly messages: number
  readonly milliseconds: number
  readonly headsMilliseconds: number
  readonly repairMilliseconds: number
}

/** All but the first in microseconds. */
export type Step = {
  readonly entries: number
  readonly entry: number
  readonly edit: number
  readonly entryAfterEdits: number
  /** Of what comes then: putting the lists together, and finding the answers whose prefix has changed. */
  readonly lists: number
  readonly changed: number
}

export type Folding = { readonly entries: number; readonly folded: readonly Folded[]; readonly steps: readonly Step[] }

export function measureFolding(): Folding {
  const whole = entriesOf(entries)
  const folded = [
    foldCost('no compaction: all of it is in view', whole),
    foldCost('40 compactions: the last epoch is in view', entriesOf(entries, { boundaries: 40 })),
  ]
  return { entries, folded, steps: [1_000, 10_000, 99_000].map((length) => stepCost(whole, length)) }
}

/** The view with its lists put together, as a request needs them. */
function lookedAt({ messages, sources }: View): number {
  return Math.min(messages.length, sources.length)
}

function foldCost(name: string, all: readonly Entry[]): Folded {
  const fold: number[] = []
  const heads: number[] = []
  const repair: number[] = []
  let messages = 0
  // The first rounds warm up, and do not count.
  for (let round = -3; round < rounds; round++) {
    const folding = timed(() => {
      messages = lookedAt(foldEntries(all))
    })
    const reading = timed(() => all.forEach(headOf))
    const view = foldEntries(all)
    const repairing = timed(() => repairRequest(view.messages))
    if (round < 0) continue
    fold.push(folding)
    heads.push(reading)
    repair.push(repairing)
  }
  return {
    name,
    messages,
    milliseconds: median(fold),
    headsMilliseconds: median(heads),
    repairMilliseconds: median(repair),
  }
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
  const added = (entry: Entry) =>
    timed(() => {
      fold.add(entry)
      fold.view()
    })
  const later = all.slice(length, length + 3 * steps)
  const entry = later.slice(0, steps).map(added)
  const edit = ids.slice(0, steps).map((id, at) => {
    const place = { uuid: `edit-${at}`, parentUuid: null, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
    const record = editRecord({ type: 'clear-results', toolUseIds: [id] }, place)
    return added({ record, position: { line: 0, offset: 0, length: 0, nth: 0 } })
  })
  const entryAfterEdits = later.slice(steps, 2 * steps).map(added)
  const looks = later.slice(2 * steps).map((next) => {
    fold.add(next)
    const view = fold.view()
    return { lists: timed(() => lookedAt(view)), changed: timed(() => view.changed.size) }
  })
  const micro = (times: readonly number[]) => median(times) * 1000
  return {
    entries: length,
    entry: micro(entry),
    edit: micro(edit),
    entryAfterEdits: micro(entryAfterEdits),
    lists: micro(looks.map(({ lists }) => lists)),
    changed: micro(looks.map(({ changed }) => changed)),
  }
}
