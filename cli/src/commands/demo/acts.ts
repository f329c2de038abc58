// The engine's actions in plain words with numbers: one act for each event that a person should see. Derived only from events.
import { counted } from '@everlong/agent/render'
import type { EngineEvent } from 'everlong'
import { type JsonObject, objectAt, stringAt } from 'everlong/internal'
import type { Explanation } from 'everlong/internal/compaction'
import { type ActName, describe } from './words.ts'

export type Act = {
  readonly name: ActName
  readonly words: string
  /** The context after the act. */
  readonly explanation: Explanation
}

/** Acts that a person expects to see. */
export const wanted: readonly ActName[] = [
  'micro-compact',
  'session memory',
  'full compaction',
  'restoration',
  'recall',
  'undo',
]

export type Chronicle = {
  readonly onEvent: (event: EngineEvent, explanation: Explanation) => void
  /** Returns the acts since the last call. */
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
    onEvent: (event, explanation) => {
      const described = describe(event)
      if (described) add({ ...described, explanation })
    },
    take: () => {
      const taken = waiting
      waiting = []
      return taken
    },
    seen: () => seen,
  }
}

/** Describes what a compaction restored, from its records. */
export function restorationInWords(records: readonly JsonObject[]): string | undefined {
  const pieces = records.map((record) => objectAt(record, 'attachment')).filter((piece) => piece !== undefined)
  const files = pieces.filter(({ type }) => type === 'files').map((piece) => nameOf(stringAt(piece, 'content') ?? ''))
  const kinds = new Set(pieces.map(({ type }) => String(type)).filter((kind) => kind !== 'files' && kind in kindNames))
  const what = [
    ...(files.length > 0 ? [`${counted(files.length, 'file')} (${files.join(', ')})`] : []),
    ...[...kinds].map((kind) => kindNames[kind]),
  ]
  return what.length === 0 ? undefined : `${what.join(' and ')} restored, as they are now`
}

const kindNames: Readonly<Record<string, string>> = {
  todos: 'the to-do list',
  plan: 'the plan',
  pinned: 'what is pinned',
}

/** A piece opens with its title: `File /src/a.ts`, or `File /src/a.ts (lines 1–50 of 90; …)`. */
function nameOf(content: string): string {
  return (
    content
      .split('\n')[0]
      ?.replace(/ \(lines .*$/, '')
      .split('/')
      .at(-1) ?? ''
  )
}
