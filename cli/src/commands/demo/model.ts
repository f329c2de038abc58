// The model of the simulated API: an agent that works on the repository, writes requested summaries and notes, and searches the
// transcript for answers. It sees only requests.
import {
  agent,
  asksForNotes,
  asksForSummary,
  noteTaker,
  type Repository,
  route,
  type Script,
  type ScriptRequest,
  summarizer,
  text,
  toolUse,
} from '@everlong/simulator'
import { blocksOf, isText, isToolResult, isToolUse, textOf } from 'everlong/internal'

export function demoModel(repository: Repository): Script {
  return route(
    [
      { when: asksForNotes, script: noteTaker() },
      { when: asksForSummary, script: summarizer() },
    ],
    demoAgent(repository),
  )
}

export function demoAgent(repository: Repository): Script {
  return route(
    [
      { when: (request) => questionIn(request) !== undefined, script: lookUp },
      { when: (request) => foundIn(request) !== undefined, script: report },
    ],
    agent({ repository, seed: 3, turnsPerTask: 7 }),
  )
}

/** Searches the archive for the person's quoted words among tool results, because the question itself contains them too. */
const lookUp: Script = (request) => {
  const query = questionIn(request) ?? ''
  return toolUse('recall', { query, kind: 'tool-result' })
}

/** A question about something in quotation marks, if there is a tool to look it up. */
function questionIn({ messages, tools }: ScriptRequest): string | undefined {
  if (!tools.some(({ name }) => name === 'recall')) return undefined
  const blocks = blocksOf(messages.at(-1)?.content)
  const asked = blocks.flatMap((block) => (isText(block) ? [block.text] : [])).at(-1)
  return asked === undefined ? undefined : /\?/.test(asked) ? /"([^"\n]+)"/.exec(asked)?.[1] : undefined
}

function foundIn({ messages }: ScriptRequest): string | undefined {
  const calls = blocksOf(messages.at(-2)?.content).filter(isToolUse)
  const asked = calls.find(({ name }) => name === 'recall')
  const results = blocksOf(messages.at(-1)?.content).filter(isToolResult)
  const result = results.find(({ tool_use_id }) => tool_use_id === asked?.id)
  return result === undefined ? undefined : textOf(result.content)
}

/** Answers in its own words, using only what was found. */
const report: Script = (request) => {
  const found = foundIn(request) ?? ''
  const [, expected, received] = /(\{[^{}]*\}|\S+) \+ Received: (.*?) at /.exec(found) ?? []
  if (received !== undefined) return text(`The transcript has it: expected ${expected}, received ${received}.`)
  return text(found.startsWith('Nothing') ? 'I found nothing about it.' : 'I found it, but it does not say more.')
}
