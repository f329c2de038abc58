// What the engine did, in plain words with the numbers: one act for each event that a person should see. Reads events;
// makes nothing up.
import type { EngineEvent } from 'everlong'
import type { Explanation } from 'everlong/mechanisms'
import { type JsonObject, objectAt, stringAt } from 'everlong/transcript'
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
}

export function createChronicle(): Chronicle {
  const seen = new Set<ActName>()
  let waiting: readonly Act[] = []
  const add = (act: Act) => {
    seen.add(act.name)
    waiting = [...waiting, act]
  }
  return {
    add,
    hear: (event, explanation) => {
      const told = toldOf(event)
      if (told) add({ ...told, explanation })
    },
    take: () => {
      const taken = waiting
      waiting = []
      return taken
    },
    seen: () => seen,
  }
}

type Told = Pick<Act, 'name' | 'words'>

function toldOf(event: EngineEvent): Told | undefined {
  switch (event.type) {
    case 'micro-compacted':
      return { name: 'micro-compact', words: microInWords(event) }
    case 'memory-extracted':
      return { name: 'session memory', words: notesInWords(event) }
    case 'compaction-finished':
      return compactionTold(event)
    case 'memory-failed':
      return { name: 'trouble', words: `no notes this time: ${event.reason}` }
    case 'compaction-failed':
      return event.reason === 'aborted' ? undefined : { name: 'trouble', words: `no compaction: ${event.detail}` }
    case 'overflow-recovered':
      return { name: 'trouble', words: 'the prompt was too long; it was made shorter and sent again' }
    case 'breaker-tripped':
      return { name: 'trouble', words: 'automatic compaction came to nothing three times and stops' }
    default:
      return undefined
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

/** Of the records a compaction left: what was put back into the context. */
export function restorationInWords(records: readonly JsonObject[]): string | undefined {
  const pieces = records.map((record) => objectAt(record, 'attachment')).filter((piece) => piece !== undefined)
  const files = pieces.filter(({ type }) => type === 'files').map((piece) => nameOf(stringAt(piece, 'content') ?? ''))
  const kinds = new Set(pieces.map(({ type }) => String(type)).filter((kind) => kind !== 'files' && kind in kindNames))
  const what = [
    ...(files.length > 0 ? [`${counted(files.length, 'file')} (${files.join(', ')})`] : []),
    ...[...kinds].map((kind) => kindNames[kind]),
  ]
  return what.length === 0 ? undefined : `${what.join(' and ')} put back, as they are now`
}

const kindNames: Readonly<Record<string, string>> = {
  todos: 'the to-do list',
  plan: 'the plan',
  pinned: 'what is pinned',
}

/** A piece opens with its title: the word File and the path. */
function nameOf(content: string): string {
  return content.split('\n')[0]?.split('/').at(-1) ?? ''
}

function sizes(before: number, after: number): string {
  return `${count(before)} → ${count(after)} tokens`
}
