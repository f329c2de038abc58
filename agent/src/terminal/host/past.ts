// What was said before in a session that is continued: its newest messages, as the terminal shows them.
import { blocksOf, isText, isToolResult, isToolUse, textOf, type ViewMessage } from 'everlong/internal'
import type { Agent } from '../../app.ts'
import { callOf, finishedCall } from './calls.ts'
import type { UiEvent } from './protocol.ts'

const mostMessages = 20
const mostCharacters = 1_000

export function pastOf(agent: Agent, folder: string): readonly UiEvent[] {
  const messages = agent.session().messages()
  const results = new Map(
    messages.flatMap(({ content }) =>
      blocksOf(content)
        .filter(isToolResult)
        .map((block) => [block.tool_use_id, block] as const),
    ),
  )
  return messages.slice(-mostMessages).flatMap((message) => [
    ...saidIn(message),
    ...blocksOf(message.content)
      .filter(isToolUse)
      .map(({ id, name, input }): UiEvent => {
        const result = results.get(id)
        const call = callOf({ toolUseId: id, name, input }, { folder })
        const content = result === undefined ? 'It was not finished.' : textOf(result.content)
        return finishedCall(call, { content, isError: result === undefined || result.is_error === true }, folder)
      }),
  ])
}

/** What the client put in front of a person's words is not shown. */
function saidBy(content: ViewMessage['content']): string {
  const text = textOf(blocksOf(content).filter(isText))
  return text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').trim()
}

function saidIn({ role, origin, content }: ViewMessage): readonly UiEvent[] {
  const whole = saidBy(content)
  const text = whole.length > mostCharacters ? `${whole.slice(0, mostCharacters)}…` : whole
  if (text === '') return []
  if (role === 'assistant') return [{ type: 'answer', text }]
  // Whole: the terminal folds long ones, and counts their lines.
  if (origin === 'human') return [{ type: 'prompt', prompt: { text: whole }, isQueued: false }]
  return origin === 'summary' ? [{ type: 'notice', text: 'What came before is summarized.' }] : []
}
