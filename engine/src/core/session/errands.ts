// What a session does beside the conversation, after an answer and when a request goes out: notes for session memory,
// summaries of finished spans. Nothing here is waited for, except at the end.
import { textCounter } from '../compaction/plan.ts'
import { type Block, blocksOf, isToolResult, isToolUse } from '../message/block.ts'
import type { AbortSignalPort, ModelRequest } from '../ports/model.ts'
import type { Beside } from './beside.ts'
import { countingFor, type Desk, explainDesk, sizeOf, whyCompactionIsOff } from './desk.ts'
import { keeperOf } from './memory-keeper.ts'
import { withSpent } from './spent.ts'
import { buildRequest } from './turn-request.ts'

/** The answer is in the conversation. One that calls tools is looked at when their results are there. */
export function afterAnswer(desk: Desk, answer: readonly Block[], signal: AbortSignalPort): void {
  const memory = keeperOf(desk.memory)
  if (!memory && !desk.collapser) return
  const calls = answer.filter(isToolUse).length
  memory?.countCalls(calls)
  if (calls > 0) return
  const view = desk.conversation.view()
  const request = () => buildRequest(desk, view).request
  const beside = besideOf(desk, signal)
  memory?.look(beside, { view, hadToolCalls: false, request })
  if (whyCompactionIsOff(desk) === undefined) desk.collapser?.look(beside)
}

/** A request is about to be sent: between two rounds of tools, the moment at which nothing is open. */
export function afterPrepared(desk: Desk, sent: ModelRequest, signal: AbortSignalPort): void {
  const memory = keeperOf(desk.memory)
  if (!memory) return
  const view = desk.conversation.view()
  if (!blocksOf(view.messages.at(-1)?.content ?? []).some(isToolResult)) return
  memory.look(besideOf(desk, signal), { view, hadToolCalls: true, request: () => bare(sent) })
}

/** What was prepared carries more than a request. */
function bare({
  source,
  model,
  system,
  tools,
  messages,
  maxTokens,
  thinking,
  betas,
  options,
}: ModelRequest): ModelRequest {
  return {
    source,
    model,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    messages,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(betas === undefined ? {} : { betas }),
    ...(options === undefined ? {} : { options }),
  }
}

/** When nothing is under way any more. With the session's signal aborted that is soon. */
export async function errandsDone({ memory, collapser }: Desk): Promise<void> {
  await keeperOf(memory)?.idle()
  await collapser?.idle()
}

function besideOf(desk: Desk, signal: AbortSignalPort): Beside {
  const { conversation } = desk
  return {
    view: conversation.view,
    tokens: () => sizeOf(desk, conversation.view()).tokens,
    effectiveWindow: () => explainDesk(desk).effectiveWindow.value,
    ledger: conversation.ledger,
    weigher: () => desk.weigher,
    client: () => desk.model,
    model: () => desk.modelName,
    countTokens: (text) => textCounter(countingFor(desk, desk.modelName))(text),
    emit: desk.emit,
    spend: (source, usage) => {
      desk.spent = withSpent(desk.spent, { source, usage, model: desk.modelName })
    },
    signal,
  }
}
