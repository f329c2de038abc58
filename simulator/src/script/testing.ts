// Requests and contexts for tests of scripts, built by hand. Not part of the public names.
import type { Block, Message } from 'everlong'
import { isToolUse, textOf } from 'everlong/internal'
import type { RepositoryTools } from '../repository/tools.ts'
import { type Seed, seededRandom } from './random.ts'
import type { Answer, Script, ScriptContext, ScriptRequest } from './script.ts'

/** Not a real tokenizer: about four characters per token, which is good enough for a budget. */
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

export type Turn = { readonly request: ScriptRequest; readonly answer: Answer }

/**
 * Runs a whole conversation without HTTP: each task is said, tools are run until an answer has none. `reduce` may
 * change the messages before each request, as a client that manages its context would. Ends after `most` answers.
 */
export async function converse(play: {
  readonly script: Script
  readonly tools: RepositoryTools
  readonly tasks: readonly string[]
  readonly most?: number
  readonly reduce?: (messages: readonly Message[], turn: number) => Promise<readonly Message[]>
}): Promise<{ readonly messages: readonly Message[]; readonly turns: readonly Turn[] }> {
  const turns: Turn[] = []
  let messages: readonly Message[] = []
  for (const task of play.tasks) {
    messages = [...messages, user(task)]
    for (let isWorking = true; isWorking && turns.length < (play.most ?? 1_000); ) {
      if (play.reduce) messages = await play.reduce(messages, turns.length)
      const request = requestOf(messages, { tools: play.tools.definitions })
      const answer = await play.script(request, contextOf(turns.length))
      turns.push({ request, answer })
      const results = answer.content.filter(isToolUse).map((use) => {
        const { content, isError } = play.tools.run(use.name, use.input)
        return { type: 'tool_result', tool_use_id: use.id, content, ...(isError ? { is_error: true } : {}) }
      })
      isWorking = results.length > 0
      messages = [...messages, assistant(answer.content), ...(isWorking ? [user(results)] : [])]
    }
  }
  return { messages, turns }
}
