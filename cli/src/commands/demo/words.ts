// The texts of the demo: the user's rule, the purpose of each mechanism, and one sentence for each engine event. Loads no engine,
// because the screen needs these texts at once.
import { count, counted, exactDollars, seconds } from '@everlong/agent/render'
import type { EngineEvent } from 'everlong'

/** The user's first message contains it; it must never be lost. */
export const rule = 'Never edit anything under src/generated: a tool writes those files.'

export type ActName =
  | 'micro-compact'
  | 'session memory'
  | 'compaction'
  | 'full compaction'
  | 'restoration'
  | 'recall'
  | 'undo'
  | 'trouble'

/** The purpose of each mechanism, shown when it first acts. */
export const purposes: Readonly<Record<Exclude<ActName, 'trouble'>, string>> = {
  'micro-compact': 'Old tool results that the agent no longer needs leave the context. The transcript keeps them.',
  'session memory':
    'Everlong keeps notes about the work in the background, so that a compaction need not wait for a summary.',
  compaction: 'The context is nearly full, so the notes take the place of the older messages. No model is asked.',
  'full compaction':
    'A model writes a summary, code checks it against the conversation, and it takes the place of the older messages.',
  restoration: 'The files that matter now are restored into the context, as they are on disk.',
  recall: 'What has left the context is not lost: the agent finds it in the transcript.',
  undo: 'A compaction can be taken back: every message it replaced is in the context again.',
}

type Description = { readonly name: ActName; readonly words: string }

export function describe(event: EngineEvent): Description | undefined {
  switch (event.type) {
    case 'micro-compacted':
      return { name: 'micro-compact', words: microInWords(event) }
    case 'memory-extracted':
      return { name: 'session memory', words: notesInWords(event) }
    case 'compaction-finished':
      return compactionInWords(event)
    case 'memory-failed':
      return { name: 'trouble', words: `no notes this time: ${event.reason}` }
    case 'compaction-failed':
      return event.reason === 'aborted' ? undefined : { name: 'trouble', words: `no compaction: ${event.why}` }
    case 'overflow-recovered':
      return { name: 'trouble', words: 'the prompt was too long; it was made shorter and sent again' }
    case 'breaker-tripped':
      return { name: 'trouble', words: 'automatic compaction came to nothing three times and stops' }
    default:
      return undefined
  }
}

type EventOf<Type extends EngineEvent['type']> = Extract<EngineEvent, { readonly type: Type }>

function microInWords({ results, tokensBefore, tokensAfter }: EventOf<'micro-compacted'>): string {
  return `${counted(results, 'old tool result')} cleared, ${sizes(tokensBefore, tokensAfter)}; nothing lost`
}

function notesInWords({ tokens, cost }: EventOf<'memory-extracted'>): string {
  return `notes brought up to date in the background: ${count(tokens)} tokens, ${exactDollars(cost)}`
}

function compactionInWords(event: EventOf<'compaction-finished'>): Description {
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

function sizes(before: number, after: number): string {
  return `${count(before)} → ${count(after)} tokens`
}
