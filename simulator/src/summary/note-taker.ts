// The model that keeps notes about a session: answers a request for notes with sections in the requested form, from the content
// of the conversation. The same for the same request.
import type { Message } from 'everlong'
import { blocksOf, headOfText, isText, isToolUse, textOf } from 'everlong/internal'
import { text } from '../script/answers.ts'
import type { Script, ScriptRequest } from '../script/script.ts'

/** True when the last message asks for sections of notes: for a route to the note taker. */
export function asksForNotes(request: Pick<ScriptRequest, 'messages'>): boolean {
  const last = request.messages.at(-1)
  return (
    last?.role === 'user' &&
    blocksOf(last.content)
      .filter(isText)
      .some(({ text: words }) => words.includes(form))
  )
}

const form = '<section name="'
const maxCharacters = 400

export function noteTaker({ learnings = [] }: { readonly learnings?: readonly string[] } = {}): Script {
  return ({ messages }) => {
    const talk = messages.slice(0, -1)
    const asked = wordsOf(talk, 'user')
    const said = wordsOf(talk, 'assistant')
    const calls = talk.flatMap(({ content }) => blocksOf(content).filter(isToolUse))
    return text(
      [
        section(
          'Session title',
          asked.slice(0, 1).map((words) => words.split(' ').slice(0, 8).join(' ')),
        ),
        section(
          'Current state',
          [...asked.slice(-1), ...said.slice(-1)].map((words) => `- ${words}`),
        ),
        section(
          'Task specification',
          asked.map((words) => `- ${words}`),
        ),
        section('Learnings', learnings),
        section('Worklog', [
          ...new Set(calls.map(({ name, input }) => headOfText(`- ${name} ${JSON.stringify(input)}`, 120))),
        ]),
      ].join('\n\n'),
    )
  }
}

function wordsOf(messages: readonly Message[], role: Message['role']): readonly string[] {
  return messages
    .filter((message) => message.role === role)
    .map(({ content }) =>
      headOfText(textOf(blocksOf(content).filter(isText)).replace(/\s+/g, ' ').trim(), maxCharacters),
    )
    .filter((words) => words !== '')
}

const maxLines = 20

function section(name: string, lines: readonly string[]): string {
  return `<section name="${name}">\n${lines.slice(-maxLines).join('\n')}\n</section>`
}
