// The model that keeps notes: asked for the notes of a session, it answers with the sections it can fill from what it was
// given, the same for the same request. It reads as the summariser does, and never calls a tool.
import { blocksOf, isText, type Message } from 'everlong'
import { text } from '../script/answers.ts'
import type { Script, ScriptRequest } from '../script/script.ts'
import { factsOf } from './extract.ts'
import type { Fact, Section } from './sections.ts'

/** True when the last user message brings notes and asks for sections of them: for a route to the note-taker. */
export function asksForNotes({ messages }: Pick<ScriptRequest, 'messages'>): boolean {
  return lastTexts(messages).some((words) => /<notes>[\s\S]*<\/notes>[\s\S]*<section name=/.test(words))
}

/** Answers every request with sections of notes about its messages, less the words that ask for them. */
export function noteTaker(): Script {
  return (request) => {
    const asked = lastTexts(request.messages).join('\n')
    const headings = new Set([...asked.matchAll(/^# (.+)$/gm)].map(([, heading]) => heading?.trim()))
    const facts = factsOf(withoutLast(request.messages))
    const sections = sources
      .filter(([heading]) => headings.has(heading))
      .map(([heading, from]) => ({ heading, body: bodyOf(facts, from) }))
      .filter(({ body }) => body !== '')
    return text(sections.map(({ heading, body }) => `<section name="${heading}">\n${body}\n</section>`).join('\n\n'))
  }
}

/** Which sections of a summary tell what belongs under a heading. */
const sources: readonly (readonly [string, readonly Section[]])[] = [
  ['Session title', [1]],
  ['Current state', [8, 7]],
  ['Task specification', [6]],
  ['Files and functions', [3]],
  ['Workflow', [2]],
  ['Errors & corrections', [4]],
  ['Worklog', [5]],
]

/** The newest of each kind: notes are short. */
const mostFacts = 8

function bodyOf(facts: readonly Fact[], from: readonly Section[]): string {
  const own = from.flatMap((section) => facts.filter((fact) => fact.section === section).slice(-mostFacts))
  const lines = from.includes(1) ? own.slice(0, 1).map((fact) => fact.text) : own.map((fact) => `- ${fact.text}`)
  // Nothing that was said can end the section it stands in.
  return lines.join('\n').replaceAll('</section', '< /section')
}

function lastTexts(messages: readonly Message[]): readonly string[] {
  const last = messages.at(-1)
  return last?.role === 'user' ? blocksOf(last.content).flatMap((block) => (isText(block) ? [block.text] : [])) : []
}

/** The question may have been joined to tool results, which are part of the story. */
function withoutLast(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1)
  if (!last) return []
  const rest = blocksOf(last.content).filter((block) => !isText(block) || !block.text.includes('<notes>'))
  return [...messages.slice(0, -1), ...(rest.length > 0 ? [{ ...last, content: rest }] : [])]
}
