// The server's memory of its answers: stored conversations by the id of their newest answer, and the reasoning item of each item.
import type { JsonObject } from 'everlong/internal'
import { type ChatProblem, chatProblem } from '../problem.ts'
import type { ReasoningOf } from './check.ts'

const maxAnswers = 1_000

type Answered = { readonly id: string; readonly input: readonly JsonObject[]; readonly output: readonly JsonObject[] }

export type StoredResponses = {
  /** The items of an id. */
  readonly before: (id: unknown) => readonly JsonObject[] | ChatProblem
  readonly hold: (answered: Answered, how: { readonly isStored: boolean }) => void
  readonly reasoningOf: ReasoningOf
}

export function createStoredResponses(): StoredResponses {
  const conversations = new Map<string, readonly JsonObject[]>()
  const reasoning = new Map<string, string>()
  return {
    before: (id) => {
      if (id === undefined || id === null) return []
      const message = `Previous response with id '${String(id)}' not found.`
      return (
        conversations.get(String(id)) ?? chatProblem(message, 'previous_response_id', 'previous_response_not_found')
      )
    },
    hold: ({ id, input, output }, { isStored }) => {
      if (isStored) conversations.set(id, [...input, ...output])
      for (const [item, needed] of madeWith(output)) reasoning.set(item, needed)
      forgetOldest(conversations)
      forgetOldest(reasoning)
    },
    reasoningOf: (id) => reasoning.get(id),
  }
}

/** Reasoning belongs to the item after it. */
function madeWith(output: readonly JsonObject[]): readonly (readonly [string, string])[] {
  return output.flatMap((item, at) => {
    const before = output[at - 1]
    return before?.type === 'reasoning' && item.type !== 'reasoning'
      ? [[String(item.id), String(before.id)] as const]
      : []
  })
}

function forgetOldest(map: Map<string, unknown>): void {
  const oldest = map.keys().next()
  if (map.size > maxAnswers && !oldest.done) map.delete(oldest.value)
}
