// What the engine did, in plain words with the numbers: one act for each event that a person should see. Reads events;
// makes nothing up.
import type { EngineEvent, Explanation } from 'everlong'
import { count, counted, exactDollars, seconds } from '../../render/numbers.ts'

export type ActName =
  | 'micro-compact'
  | 'session memory'
  | 'compaction'
  | 'full compaction'
  | 'restoration'
  | 'recall'
  | 'undo'
  | 'trouble'

export type Act = {
  readonly name: ActName
  readonly words: string
  /** How the context stands after it. */
  readonly explanation: Explanation
}

/** What a person came to see. */
export const wanted: readonly ActName[] = [
  'micro-compact',
  'session memory',
  'full compaction',
  'restoration',
  'recall',
  'undo',
]

export type Chronicle = {
  readonly hear: (event: EngineEvent, explanation: Explanation) => void
  /** What happened since this was last asked. */
  readonly take: () => readonly Act[]
  readonly add: (act: Act) => void
  readonly seen: () => ReadonlySet<ActName>
  /** US dollars that context management cost: notes and summaries. */
  readonly cost: () => number
}

export function createChronicle(): Chronicle {
  const seen = new Set<ActName>()
  let waiting: readonly Act[] = []
  let cost = 0
  let files: readonly string[] = []
  const add = (act: Act) => {
    seen.add(act.name)
    waiting = [...waiting, act]
  }
  return {
    add,
    hear: (event, explanation) => {
      if (event.type === 'compaction-started') files = []
      if (event.type === 'file-restored') files = [...files, event.path]
      if (event.type === 'compaction-finished' || event.type === 'memory-extracted') cost += event.cost ?? 0
      for (const told of actsOf(event, files)) add({ ...told, explanation })
    },
    take: () => {
      const taken = waiting
      waiting = []
      return taken
    },
    seen: () => seen,
    cost: () => cost,
  }
}

type Told = Pick<Act, 'name' | 'words'>

function actsOf(event: EngineEvent, files: readonly string[]): readonly Told[] {
  switch (event.type) {
    case 'micro-compacted':
      return [{ name: 'micro-compact', words: microInWords(event) }]
    case 'memory-extracted':
      return [{ name: 'session memory', words: notesInWords(event) }]
    case 'compaction-finished':
      return [compactionTold(event), ...restorationTold(event, files)]
    case 'compaction-failed':
      return event.reason === 'aborted' ? [] : [{ name: 'trouble', words: `no compaction: ${event.detail}` }]
    case 'overflow-recovered':
      return [{ name: 'trouble', words: 'the prompt was too long; it was made shorter and sent again' }]
    case 'breaker-tripped':
      return [{ name: 'trouble', words: 'automatic compaction came to nothing three times and stops' }]
    default:
      return []
  }
}

type Of<Type extends EngineEvent['type']> = Extract<EngineEvent, { readonly type: Type }>

function microInWords({ results, tokensBefore, tokensAfter }: Of<'micro-compacted'>): string {
  return `${counted(results, 'old tool result')} cleared, ${sizes(tokensBefore, tokensAfter)}; nothing lost`
}

function notesInWords({ tokens, cost }: Of<'memory-extracted'>): string {
  return `notes brought up to date in the background: ${count(tokens)} tokens, ${exactDollars(cost)}`
}

function compactionTold(event: Of<'compaction-finished'>): Told {
  const { mechanism, tokensBefore, tokensAfter, durationMs, cost, usage } = event
  const shrunk = sizes(tokensBefore, tokensAfter)
  if (mechanism === 'session-memory') {
    return { name: 'compaction', words: `from the notes, no model asked, ${shrunk} in ${seconds(durationMs)}` }
  }
  const written = usage.output === 0 ? 'without a model' : `a summary of ${count(usage.output)} tokens`
  return {
    name: 'full compaction',
    words: `${written}, ${shrunk} in ${seconds(durationMs)}${cost ? `, ${exactDollars(cost)}` : ''}`,
  }
}

function restorationTold({ restored }: Of<'compaction-finished'>, files: readonly string[]): readonly Told[] {
  if (restored === 0) return []
  const others = restored - files.length
  const names = files.map((path) => path.split('/').at(-1) ?? path).join(', ')
  const what = [
    ...(files.length > 0 ? [`${counted(files.length, 'file')} (${names})`] : []),
    ...(others > 0 ? [`${counted(others, 'other piece')}`] : []),
  ]
  return [{ name: 'restoration', words: `${what.join(' and ')} put back as they are now` }]
}

function sizes(before: number, after: number): string {
  return `${count(before)} → ${count(after)} tokens`
}
