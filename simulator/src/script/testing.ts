// Requests and contexts for tests of scripts, built by hand. Not part of the public names.
import { type Block, type Message, textOf } from 'everlong'
import { type Seed, seededRandom } from './random.ts'
import type { Answer, Script, ScriptContext, ScriptRequest } from './script.ts'

/** Not a real tokenizer: about four characters a token, which is all a budget needs. */
export const countTokens = (words: string): number => Math.ceil(words.length / 4)

export function contextOf(turn = 0, seed: Seed = 'test'): ScriptContext {
  return { turn, random: seededRandom(seed, turn), countTokens }
}

export function requestOf(
  messages: readonly Message[] | string,
  others: Partial<Omit<ScriptRequest, 'messages'>> = {},
): ScriptRequest {
  return {
    model: 'claude-test',
    maxTokens: 4_000,
    system: 'You are a test.',
    tools: [],
    messages: typeof messages === 'string' ? [user(messages)] : messages,
    ...others,
  }
}

export const user = (content: string | readonly Block[]): Message => ({ role: 'user', content })
export const assistant = (content: string | readonly Block[]): Message => ({ role: 'assistant', content })

/** Asks the script once, as its first request. */
export async function ask(script: Script, request: ScriptRequest | string): Promise<Answer> {
  return script(typeof request === 'string' ? requestOf(request) : request, contextOf())
}

export async function textAnswered(script: Script, request: ScriptRequest | string): Promise<string> {
  return textOf((await ask(script, request)).content)
}
