// Recall as a tool that any host can give its model, for any session. It only reads, limits the size of its answers, and answers
// every input.

import { defaultRecallLimit, type Recalled } from '../ports/session-store.ts'
import { readDescription, recallPointer, searchDescription, sessionRecallDescription } from '../prompts/recall.ts'
import { estimateTokens } from '../tokens/estimate/estimate.ts'
import {
  type AnswerStyle,
  parseRead,
  parseRecall,
  parseSearch,
  type RecallRequest,
  readingText,
  readProperties,
  searchProperties,
  searchText,
} from './recall-text.ts'
import type { Session } from './session-api.ts'

export type ToolOutput = { readonly text: string; readonly isError: boolean }

export type RecallTool = {
  readonly name: string
  readonly description: string
  readonly input_schema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, object>>
    readonly required?: string[]
    readonly additionalProperties: boolean
  }
  readonly run: (input: unknown) => ToolOutput
}

export type RecallLimits = {
  /** The limit for an answer. Default: 4,000. */
  readonly maxTokens?: number
  /** Default: our estimate. */
  readonly countTokens?: (text: string) => number
}

/** A smaller limit leaves no room for an answer inside its frame. */
const minTokens = 400

/** `note` comes before the answer and uses some of its room. */
export function answerStyle(
  { maxTokens = 4_000, countTokens = estimateTokens }: RecallLimits,
  phraseRead: AnswerStyle['phraseRead'],
  note = '',
): AnswerStyle {
  const room = Math.max(minTokens, maxTokens) - (note === '' ? 0 : countTokens(note))
  return { phraseRead, countTokens, maxTokens: room }
}

export const readProperty = {
  type: 'string',
  description: 'An id from a card, or a pointer: reads that text instead of searching.',
}

/** How a model calls the tool to read a text, or the rest of one. */
export const phraseRecall: AnswerStyle['phraseRead'] = (id, from) =>
  from === undefined ? recallPointer(id) : `recall(${JSON.stringify({ read: id, ...from })})`

export function schemaOf(properties: Readonly<Record<string, object>>): RecallTool['input_schema'] {
  return { type: 'object', properties, additionalProperties: false }
}

export type SlowRecallTool = Omit<RecallTool, 'run'> & { readonly run: (input: unknown) => Promise<ToolOutput> }

/**
 * A recall tool for a session in any store: give `name`, `description` and `input_schema` to the model, and answer its calls with
 * `run`. For a folder of transcripts use `createRecallTool` of everlong/node, which can also narrow a search.
 */
export function recallTool(
  session: Pick<Session, 'recall' | 'read'>,
  limits: RecallLimits = {},
): Omit<RecallTool, 'run'> & { readonly run: (input: unknown) => Promise<ToolOutput> } {
  const { query, limit } = searchProperties
  const source: RecallSource = { search: (words, max) => session.recall(words, { limit: max }), read: session.read }
  const style = answerStyle(limits, phraseRecall)
  return {
    name: 'recall',
    description: sessionRecallDescription,
    input_schema: schemaOf({ query, limit, read: readProperty, ...readProperties }),
    run: (input) =>
      answer(parseRecall(input), source, {
        style,
        noQuery: 'Give "query" to search, or "read" with an id.',
        nothing: 'Nothing in this session has this id.',
      }),
  }
}

/** An asynchronous search and read, for example of a database. */
export type RecallSource = {
  readonly search: (words: string, limit: number) => Promise<Recalled>
  readonly read: (id: string) => Promise<string | undefined>
}

/** The same as two tools over many sessions, for MCP servers. */
export function recallTools(source: RecallSource, limits: RecallLimits = {}): readonly SlowRecallTool[] {
  const { query, limit } = searchProperties
  const id = { type: 'string', description: 'The id of a card, or a pointer.' }
  const style = answerStyle(limits, (wanted, from) => `read(${JSON.stringify({ id: wanted, ...from })})`)
  const how = { style, noQuery: 'Give "query" to search.', nothing: 'Nothing has this id.' }
  return [
    {
      ...{ name: 'search', description: searchDescription, input_schema: schemaOf({ query, limit }) },
      run: (input) => answer(parseSearch(input), source, how),
    },
    {
      ...{ name: 'read', description: readDescription },
      input_schema: { ...schemaOf({ id, ...readProperties }), required: ['id'] },
      run: (input) => answer(parseRead(input, 'id'), source, how),
    },
  ]
}

type Answering = { readonly style: AnswerStyle; readonly noQuery: string; readonly nothing: string }

async function answer(
  request: RecallRequest,
  { search, read }: RecallSource,
  { style, noQuery, nothing }: Answering,
): Promise<ToolOutput> {
  if (request.type === 'refused') return failed(request.reason)
  if (request.type === 'read') {
    const { id } = request.read
    const text = await read(id)
    if (text === undefined) return failed(`${nothing} Search for it first.`)
    return { text: readingText({ id, text, cards: [{ id }] }, request.read, style), isError: false }
  }
  const { words, limit = defaultRecallLimit } = request.query
  if (words === undefined) return failed(noQuery)
  return { text: searchText(await search(words, Math.max(1, Math.min(100, limit))), style), isError: false }
}

function failed(text: string): ToolOutput {
  return { text, isError: true }
}
