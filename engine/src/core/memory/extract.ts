// One extraction: turns the conversation and the notes into new notes. The request is the conversation's own plus one message, so
// its prefix is read from the cache; the model can change only sections of the notes. Without a model, the user's words and the
// agent's reports fill the sections.

import { stateLines } from '../compaction/page/state.ts'
import type { Ledger } from '../ledger/facts.ts'
import { blocksOf, type Message, textOf, type ViewMessage } from '../message/message.ts'
import { billedCounts, noTokens, type TokenCounts } from '../message/usage.ts'
import type { AbortSignalPort, ModelClient, ModelRequest } from '../ports/model.ts'
import type { SafeRedact } from '../ports/restore.ts'
import { withoutSecretsFor } from '../ports/restore.ts'
import { memoryPrompt } from '../prompts/memory.ts'
import { condensed, type TokenLimit } from '../text/cut.ts'
import { oneLine } from '../text/neutralize.ts'
import { linesWithin } from '../text/plain-words.ts'
import { type Notes, overLimit, renderNotes, sectionLimit, type Update, updated, updatesIn } from './notes.ts'

export type ExtractInput = {
  readonly notes: Notes
  /** The conversation's own request, byte for byte. */
  readonly conversation: ModelRequest
  readonly messages: readonly ViewMessage[]
  readonly ledger: Ledger
  readonly model: ModelClient
  readonly countTokens: (text: string) => number
  readonly prompt?: string | undefined
  readonly redact?: SafeRedact | undefined
  readonly signal?: AbortSignalPort
}

export type Extraction =
  | { readonly type: 'extracted'; readonly notes: Notes; readonly usage: TokenCounts }
  | { readonly type: 'failed'; readonly reason: string; readonly usage: TokenCounts }

export async function extractNotes(input: ExtractInput): Promise<Extraction> {
  const { notes, conversation, model, countTokens } = input
  if (model.capabilities(conversation.model).offline) {
    const updates = offlineUpdates(input.ledger, { countTokens, tokens: sectionLimit })
    return { type: 'extracted', notes: updated(notes, updates), usage: noTokens }
  }
  const answer = await model.send(extractionRequest(input), input.signal ? { signal: input.signal } : {})
  if (answer.type === 'failed') return { type: 'failed', reason: answer.message, usage: noTokens }
  const usage = billedCounts(answer.usage)
  const headings = new Set(notes.map(({ heading }) => heading))
  const text = withoutSecretsFor(input.redact)(textOf(answer.content))
  const updates = updatesIn(text).filter(({ heading }) => headings.has(heading))
  if (updates.length === 0) return { type: 'failed', reason: 'The answer holds no section of the notes.', usage }
  const next = updated(notes, updates)
  const isGrown = countTokens(renderNotes(next)) > countTokens(renderNotes(notes))
  if (overLimit(notes, countTokens).total && isGrown) {
    return { type: 'failed', reason: 'The notes are over their limit, and the answer makes them longer.', usage }
  }
  return { type: 'extracted', notes: next, usage }
}

/** The conversation's request plus the task. Nothing before the task changes. */
export function extractionRequest({ notes, conversation, countTokens, prompt }: ExtractInput): ModelRequest {
  const limits = overLimit(notes, countTokens)
  const text = memoryPrompt({ notes: renderNotes(notes), ...limits, sectionLimit, custom: prompt })
  const { messages } = conversation
  const last = messages.at(-1)
  // If the conversation ends with tool results, the task joins their message, because roles must alternate.
  const [before, said] = last?.role === 'user' ? [messages.slice(0, -1), blocksOf(last.content)] : [messages, []]
  const task: Message = { role: 'user', content: [...said, { type: 'text', text }] }
  return { ...conversation, source: 'session-memory', messages: [...before, task] }
}

export type MemoryProgress = {
  /** Size of the context at the last extraction; undefined before the first. */
  readonly tokens?: number
  /** Uuid of the last message that the notes cover. */
  readonly lastSeen?: string
  readonly failures: number
}

/** The storage of a session's notes: one file with a lock across processes. */
export type SessionMemory = {
  readonly path: string
  /** The current notes. Undefined if there are none yet. */
  readonly notes: () => Notes | undefined
  /** All sections, still empty. */
  readonly template: () => Notes
  readonly progress: () => MemoryProgress
  readonly saveProgress: (progress: MemoryProgress) => void
  /** Runs one extraction, after the current one if there is one. Never disturbs the conversation: a failure is a value. */
  readonly extract: (input: Omit<ExtractInput, 'notes' | 'prompt'>) => Promise<Extraction>
  /** Waits up to 15 seconds for an extraction in any process. One that is older than 60 seconds counts as dead. */
  readonly settled: () => Promise<'settled' | 'still-running'>
}

export function offlineUpdates(ledger: Ledger, limit: TokenLimit): readonly Update[] {
  return Object.entries(sectionsOf(ledger)).map(([heading, lines]) => ({
    heading,
    body: linesWithin(lines, limit).join('\n'),
  }))
}

const maxReportLength = 1_200

function sectionsOf(ledger: Ledger): Readonly<Record<string, readonly string[]>> {
  const { exchanges, rules, errors, commits, files, todos } = ledger
  const newest = <T extends { readonly last: number }>(facts: readonly T[]) => facts.toSorted((a, b) => b.last - a.last)
  const latest = exchanges.at(-1)
  const open = todos.filter(({ status }) => status !== 'done')
  return {
    'Session title': exchanges.slice(0, 1).map(({ text }) => oneLine(text, 200).split(' ').slice(0, 10).join(' ')),
    'Current state': [
      ...(latest ? [`- Latest request: "${oneLine(latest.text, 1_200)}"`] : []),
      ...(latest?.report === undefined
        ? []
        : [`- The agent last reported: ${condensed(latest.report, maxReportLength)}`]),
      ...open.map(({ text, status }) => `- Open: ${oneLine(text, 240)} (${status})`),
      ...stateLines({ ledger: { ...ledger, todos: [] }, shown: '' }),
    ],
    'Task specification': [
      ...newest(rules).map(({ text }) => `- Rule: "${text}"`),
      ...exchanges.toReversed().map(({ text }) => `- The user: "${oneLine(text, 600)}"`),
    ],
    'Files and functions': newest(files).map(({ path }) => `- changed ${oneLine(path, 400)}`),
    'Errors & corrections': newest(errors).map(({ what, line, cause, isFixed }) => {
      const failed = `\`${oneLine(what, 160).replaceAll('`', "'")}\` failed: ${oneLine(line, 200)}`
      return `- ${failed}${cause === undefined ? '' : `. ${oneLine(cause, 300)}`}${isFixed ? '. Fixed since' : ''}`
    }),
    'Key results': exchanges
      .toReversed()
      .flatMap(({ text, report }) =>
        report === undefined ? [] : [`- "${oneLine(text, 120)}": ${condensed(report, maxReportLength)}`],
      ),
    Worklog: newest(commits).map(({ hash, title }) => `- commit ${hash} "${oneLine(title, 160)}"`),
  }
}
