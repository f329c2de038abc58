// One extraction: the conversation and the notes go in, new notes come out. The request is the conversation's own with
// one message behind it, so its prefix is read from the cache; the model can change nothing but sections of the notes.
import type { Ledger } from '../ledger/facts.ts'
import { blocksOf, textOf } from '../message/block.ts'
import type { Message, ViewMessage } from '../message/message.ts'
import { billedCounts, noTokens, type TokenCounts } from '../message/usage.ts'
import { withoutSecretsFor } from '../ports/guarded-ports.ts'
import type { AbortSignalPort, ModelClient, ModelRequest } from '../ports/model.ts'
import type { GuardedRedact } from '../ports/restore.ts'
import { memoryPrompt } from '../prompts/memory.ts'
import { type Notes, overLimit, renderNotes, sectionLimit, updated, updatesIn } from './notes.ts'
import { offlineUpdates } from './offline.ts'
import type { MemoryProgress } from './trigger.ts'

export type ExtractInput = {
  readonly notes: Notes
  /** The conversation's own request, byte for byte. */
  readonly conversation: ModelRequest
  readonly messages: readonly ViewMessage[]
  readonly ledger: Ledger
  readonly model: ModelClient
  readonly countTokens: (text: string) => number
  readonly prompt?: string | undefined
  readonly redact?: GuardedRedact | undefined
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

/** The conversation's request with the task behind it; nothing before it changes. */
export function extractionRequest({ notes, conversation, countTokens, prompt }: ExtractInput): ModelRequest {
  const limits = overLimit(notes, countTokens)
  const text = memoryPrompt({ notes: renderNotes(notes), ...limits, sectionLimit, custom: prompt })
  const { messages } = conversation
  const last = messages.at(-1)
  // Where the conversation ends with results of tools, in the same message: roles must alternate.
  const [before, said] = last?.role === 'user' ? [messages.slice(0, -1), blocksOf(last.content)] : [messages, []]
  const task: Message = { role: 'user', content: [...said, { type: 'text', text }] }
  return { ...conversation, source: 'session-memory', messages: [...before, task] }
}

/** Where the notes of a session are kept: one file with a lock across processes. */
export type SessionMemory = {
  readonly path: string
  /** The notes as they stand; undefined when there are none yet. */
  readonly notes: () => Notes | undefined
  /** The sections that there would be, still empty. */
  readonly template: () => Notes
  readonly progress: () => MemoryProgress
  readonly saveProgress: (progress: MemoryProgress) => void
  /** Runs one extraction, after the one that runs. Never disturbs the conversation: a failure is a value. */
  readonly extract: (input: Omit<ExtractInput, 'notes' | 'prompt'>) => Promise<Extraction>
  /** Waits for an extraction that runs somewhere: up to 15 seconds; one older than 60 is taken for dead. */
  readonly settled: () => Promise<'settled' | 'still-running'>
}
