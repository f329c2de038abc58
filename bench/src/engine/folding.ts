// How long it takes to fold a transcript of 100,000 entries into the view, compared with a bare pass that only reads each
// entry's head.
import type { Entry } from 'everlong'
import { foldEntries, readHead, repairRequest } from 'everlong/internal'
import { median } from '../median.ts'
import { entriesOf, timed } from './sessions.ts'

const entries = 100_000
const rounds = 9

export type Folded = {
  readonly name: string
  readonly messages: number
  readonly milliseconds: number
  readonly headsMilliseconds: number
  readonly repairMilliseconds: number
}

export type Folding = { readonly entries: number; readonly folded: readonly Folded[] }

export function measureFolding(): Folding {
  const folded = [
    foldCost('no compaction: all of it is in view', entriesOf(entries)),
    foldCost('40 compactions: the last epoch is in view', entriesOf(entries, { boundaries: 40 })),
  ]
  return { entries, folded }
}

function foldCost(name: string, all: readonly Entry[]): Folded {
  const fold: number[] = []
  const heads: number[] = []
  const repair: number[] = []
  let messages = 0
  // The first rounds warm up, and do not count.
  for (let round = -3; round < rounds; round++) {
    const folding = timed(() => {
      messages = foldEntries(all).messages.length
    })
    const reading = timed(() => all.forEach(readHead))
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
