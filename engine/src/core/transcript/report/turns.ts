// The turns of a session: how full the context was at the end of each, and when. A turn begins with what a person
// typed. For predicting the next compaction and for saying where compactions would have fallen.
import { type JsonObject, stringAt } from '../../message/json.ts'
import { isRequest } from '../../message/message.ts'
import { contextTokens } from '../../message/usage.ts'
import type { AnswerLine } from '../format/answers.ts'
import type { Head } from '../format/entry.ts'
import { originOf } from '../format/origin.ts'

export type TurnEnd = {
  readonly tokens: number
  /** Milliseconds since 1970, of the newest answer of the turn. */
  readonly time?: number | undefined
}

export type TurnBook = {
  readonly add: (record: JsonObject, facts: { readonly head: Head; readonly answer: AnswerLine | undefined }) => void
  /** Those that got an answer with usage, in order. */
  readonly turns: () => readonly TurnEnd[]
}

export function createTurnBook(): TurnBook {
  const ended: Newest[] = []
  let open: Newest | undefined
  return {
    turns: () => (open ? [...ended, open] : ended).map(turnEnd),
    add: (record, { head, answer }) => {
      if (head.sidechain) return
      if (head.type === 'user' && head.toolResults.length === 0 && open && isRequest(originOf(record) ?? 'meta')) {
        ended.push(open)
        open = undefined
      }
      const tokens = answer ? contextTokens(answer.usage) : 0
      if (tokens === 0) return
      open = { tokens, timestamp: stringAt(record, 'timestamp') }
    },
  }
}

/** The newest answer of a turn. Its time is read when somebody asks: most answers are followed by another. */
type Newest = { readonly tokens: number; readonly timestamp: string | undefined }

function turnEnd({ tokens, timestamp }: Newest): TurnEnd {
  const time = Date.parse(timestamp ?? '')
  return Number.isNaN(time) ? { tokens } : { tokens, time }
}
