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

/**
 * A recall tool for a session in any store: give `name`, `description` and `input_schema` to the model, and answer its calls with
 * `run`. For a folder of transcripts use `createRecallTool` of everlong/node, which can also narrow a search.
 */
export function recallTool(
  session: Pick<Session, 'recall' | 'read'>,
  limits: RecallLimits = {},
): Omit<RecallTool, 'run'> & { readonly run: (input: unknown) => Promise<ToolOutput> } {
  const { query, limit } = searchProperties
  return {
    name: 'recall',
    description: sessionRecallDescription,
    input_schema: schemaOf({ query, limit, read: readProperty, ...readProperties }),
    run: async (input) => {
      const request = parseRecall(input)
      if (request.type === 'refused') return failed(request.reason)
      const style = answerStyle(limits, phraseRecall)
      if (request.type === 'read') {
        const { id } = request.read
        const text = await session.read(id)
        if (text === undefined) return failed('Nothing in this session has this id. Search for it first.')
        return { text: readingText({ id, text, cards: [{ id }] }, request.read, style), isError: false }
      }
      const { words, limit: asked = defaultRecallLimit } = request.query
      if (words === undefined) return failed('Give "query" to search, or "read" with an id.')
      const found = await session.recall(words, { limit: Math.max(1, Math.min(100, asked)) })
      return { text: searchText(found, style), isError: false }
    },
  }
}

/** An asynchronous search and read, for example of a database. */
export type RecallSource = {
  readonly search: (words: string, limit: number) => Promise<Recalled>
  readonly read: (id: string) => Promise<string | undefined>
}

export type SlowRecallTool = Omit<RecallTool, 'run'> & { readonly run: (input: unknown) => Promise<ToolOutput> }

/** The same as two tools over many sessions, for MCP servers. */
export function recallTools(source: RecallSource, limits: RecallLimits = {}): readonly SlowRecallTool[] {
  const { query, limit } = searchProperties
  const id = { type: 'string', description: 'The id of a card, or a pointer.' }
  const style = answerStyle(limits, (wanted, from) => `read(${JSON.stringify({ id: wanted, ...from })})`)
  return [
    {
      ...{ name: 'search', description: searchDescription, input_schema: schemaOf({ query, limit }) },
      run: async (input) => {
        const request = parseSearch(input)
        if (request.type === 'refused') return failed(request.reason)
        const { words, limit: asked = defaultRecallLimit } = request.query
        if (words === undefined) return failed('Give "query" to search.')
        return {
          text: searchText(await source.search(words, Math.max(1, Math.min(100, asked))), style),
          isError: false,
        }
      },
    },
    {
      ...{ name: 'read', description: readDescription },
      input_schema: { ...schemaOf({ id, ...readProperties }), required: ['id'] },
      run: async (input) => {
        const request = parseRead(input, 'id')
        if (request.type === 'refused') return failed(request.reason)
        const text = await source.read(request.read.id)
        if (text === undefined) return failed('Nothing has this id. Search for it first.')
        const { id: wanted } = request.read
        return { text: readingText({ id: wanted, text, cards: [{ id: wanted }] }, request.read, style), isError: false }
      },
    },
  ]
}

function failed(text: string): ToolOutput {
  return { text, isError: true }
}
