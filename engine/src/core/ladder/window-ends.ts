// What is learned where a window turns out to be another than was thought: from a refusal with numbers, and from an
// answer that the window ended. What is then done about it is recovery's business.
import { isText, isToolUse } from '../message/block.ts'
import { billedCounts, contextTokens } from '../message/usage.ts'
import type { ModelAnswer, ModelFailure } from '../ports/model.ts'
import { overflowOfAnswer } from '../request/refusal.ts'
import { type Desk, situationIn } from '../session/desk.ts'
import { withSpent } from '../session/spent.ts'
import { ConfigurationError } from '../tokens/figure.ts'
import { endpointOf, withLimit } from './limits.ts'

export const windowEnded = 'model_context_window_exceeded'

/** The limit of this endpoint and a model (the session's own unless said), as it was told or met. */
export function learnLimit(
  desk: Desk,
  { limit, model = desk.modelName }: { readonly limit: number; readonly model?: string },
): void {
  const { lessons, model: client } = desk
  const before = lessons.limits
  if (model === desk.modelName && limit === windowOf(desk)) return
  lessons.limits = withLimit(before, { client, model, limit })
  if (lessons.limits === before) return
  try {
    situationIn(desk, desk.conversation.view())
    desk.emit({ type: 'limit-learned', endpoint: endpointOf(client), model, limit })
  } catch (error) {
    // With this limit no setting works: whoever said it, the conversation goes on with what was known.
    if (!(error instanceof ConfigurationError)) throw error
    lessons.limits = before
  }
}

/** Counts that end a little before the window say nothing new about it. */
const nearly = 0.01

/** An answer that the window ended is as long as the window. */
export function learnFromEnd(desk: Desk, tokens: number): void {
  const known = windowOf(desk)
  if (Math.abs(tokens - known) > known * nearly) learnLimit(desk, { limit: tokens })
}

/**
 * An answer in which the window left no room to say anything is an overflow told in another way. One that says something
 * stays an answer: it is kept, and the next request is made smaller before it goes out.
 */
export function unlessCutOff(desk: Desk, result: ModelAnswer | ModelFailure): ModelAnswer | ModelFailure {
  if (result.type === 'failed' || result.content.some(saysSomething)) return result
  if (!overflowOfAnswer(result, windowOf(desk))) return result
  const { usage, stopReason } = result
  desk.spent = withSpent(desk.spent, { source: 'turn', usage: billedCounts(usage), model: desk.modelName })
  if (stopReason === windowEnded) learnFromEnd(desk, contextTokens(usage))
  const message = 'The context window was full before the answer said anything.'
  return { type: 'failed', reason: 'overflow', message, tries: 1 }
}

function saysSomething(block: ModelAnswer['content'][number]): boolean {
  return isToolUse(block) || (isText(block) && block.text.trim() !== '')
}

function windowOf(desk: Desk): number {
  return situationIn(desk, desk.conversation.view()).explanation.contextWindow.value
}
