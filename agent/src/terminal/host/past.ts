// The newest messages of a continued session, for the terminal.
import { blocksOf, isText, isToolResult, isToolUse, textOf, type ViewMessage } from 'everlong/internal'
import type { Agent } from '../../app.ts'
import { isCommandText, typedWords } from '../../command-message.ts'
import { interruptedText } from '../../interrupted.ts'
import { callOf, finishedCall } from './calls.ts'
import type { UiEvent } from './protocol.ts'

const maxMessages = 20
const maxCharacters = 1_000

export function pastOf(agent: Agent, folder: string): readonly UiEvent[] {
  const messages = agent.session().messages()
  const results = new Map(
    messages.flatMap(({ content }) =>
      blocksOf(content)
        .filter(isToolResult)
        .map((block) => [block.tool_use_id, block] as const),
    ),
  )
  return messages.slice(-maxMessages).flatMap((message) => [
    ...saidIn(message),
    ...blocksOf(message.content)
      .filter(isToolUse)
      .map(({ id, name, input }): UiEvent => {
        const result = results.get(id)
        const call = callOf({ toolUseId: id, name, input }, { folder })
        const content = result === undefined ? 'It was not finished.' : blocksOf(result.content)
        return finishedCall(call, { content, isError: result === undefined || result.is_error === true }, folder)
      }),
  ])
}

function saidIn({ role, origin, content }: ViewMessage): readonly UiEvent[] {
  const blocks = blocksOf(content).filter(isText)
  if (role === 'assistant') return answerIn(withoutReminders(textOf(blocks)))
  if (origin === 'summary') return [{ type: 'notice', text: 'What came before is summarized.' }]
  const events = spokenIn(blocks.map(({ text }) => text))
  return origin === 'human' ? events : events.filter(({ type }) => type === 'notice')
}

function answerIn(whole: string): readonly UiEvent[] {
  const text = whole.length > maxCharacters ? `${whole.slice(0, maxCharacters)}…` : whole
  return text === '' ? [] : [{ type: 'answer', text }]
}

/** Adjacent messages without an answer are one message of the conversation. The mark of an interrupt separates them. */
function spokenIn(texts: readonly string[]): readonly UiEvent[] {
  const at = texts.indexOf(interruptedText)
  const said = texts.slice(0, at < 0 ? texts.length : at)
  // The text of a command follows what the person typed.
  const typed = said.filter((_, place) => !isCommandText(said[place - 1])).map(typedWords)
  const text = withoutReminders(typed.join('\n'))
  return [
    // Not shortened, because the terminal folds long texts and counts their lines.
    ...(text === '' ? [] : [{ type: 'prompt', prompt: { text }, isQueued: false } as const]),
    ...(at < 0 ? [] : [{ type: 'notice', text: 'Interrupted.' } as const, ...spokenIn(texts.slice(at + 1))]),
  ]
}

/** Hides the client's text before a person's words. */
function withoutReminders(text: string): string {
  return text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').trim()
}
