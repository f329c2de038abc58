// Parsers of option values. An invalid value is reported with valid ones, before any command is loaded.
import { InvalidArgumentError } from 'commander'

/** The kinds of text that recall finds. Repeated here so that --help need not load the engine; a test compares them. */
export const kinds: readonly string[] = [
  'human',
  'assistant',
  'thinking',
  'tool-use',
  'tool-result',
  'summary',
  'attachment',
  'meta',
  'system',
  'agent',
]

/** Likewise: the wordings of overflow errors that the simulator has. */
export const overflows: readonly string[] = [
  '413',
  'anthropic',
  'bedrock',
  'vertex',
  'gateway',
  'gateway-413',
  'openai',
  'openrouter',
  'groq',
  'xai',
  'mistral',
  'llama-cpp',
  '413-text',
  'stream',
]

export function kind(text: string): string {
  return oneOf(kinds, text)
}

export function overflow(text: string): string {
  return oneOf(overflows, text)
}

function oneOf(known: readonly string[], text: string): string {
  if (!known.includes(text)) throw new InvalidArgumentError(`Choose from ${known.join(', ')}.`)
  return text
}

export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

export type ModelSpec =
  | { readonly type: 'offline' | 'recorded' }
  | {
      readonly type: 'anthropic' | 'openai'
      readonly model: string
      readonly url: string | undefined
    }

export const modelForms = 'offline, recorded, anthropic:MODEL or openai:MODEL[@URL]'

export function modelSpec(text: string): ModelSpec {
  if (text === 'offline' || text === 'recorded') return { type: text }
  const [, provider, model, url] = /^(anthropic|openai):([^@\s]+)(?:@(\S+))?$/.exec(text) ?? []
  if (provider === undefined || model === undefined) throw new InvalidArgumentError(`Give ${modelForms}.`)
  return { type: provider === 'openai' ? 'openai' : 'anthropic', model, url }
}

export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Give a whole number.')
  return Number(text)
}

export function portNumber(text: string): number {
  const port = wholeNumber(text)
  if (port > 65_535) throw new InvalidArgumentError('Give a port, 0 to 65535.')
  return port
}

export function time(text: string): number {
  const value = Date.parse(text)
  if (Number.isNaN(value)) throw new InvalidArgumentError('Give a time, such as 2026-03-02T10:30:00Z.')
  return value
}

/** Returned unchanged, because a day without a time means the whole day. */
export function day(text: string): string {
  if (Number.isNaN(Date.parse(text))) throw new InvalidArgumentError('Give a time, such as 2026-03-02.')
  return text
}

/** 200000, 200_000, 200,000 or 200k. */
export function tokens(text: string): number {
  const match = /^(\d[\d_,]*)(k?)$/i.exec(text)
  const value = Number(match?.[1]?.replace(/[_,]/g, '') ?? 0) * (match?.[2] ? 1_000 : 1)
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new InvalidArgumentError('Give a number of tokens, such as 200000.')
  return value
}
