// From the words of --model to a model client: offline, recorded, anthropic:MODEL, openai:MODEL[@URL].
import type { Environment, ModelClient } from 'everlong'
import { anthropic, offline, openai, recorded } from 'everlong/models'

export type ModelChoice =
  | { readonly type: 'model'; readonly client: ModelClient }
  | { readonly type: 'refused'; readonly why: string }

export const modelForms = 'offline, recorded, anthropic:MODEL or openai:MODEL[@URL]'

export type ModelWorld = {
  readonly env: Environment
  /** What the model of the transcript's own compaction wrote, where one was named. */
  readonly recordedSummary: string | undefined
}

export function chooseModel(words: string, { env, recordedSummary }: ModelWorld): ModelChoice {
  if (words === 'offline') return { type: 'model', client: offline() }
  if (words === 'recorded') {
    if (recordedSummary === undefined) {
      return refused('nothing is recorded here. Name a compaction with --before and the uuid of its boundary.')
    }
    return { type: 'model', client: recorded({ summaries: () => recordedSummary }) }
  }
  const [, provider, model, url] = /^(anthropic|openai):([^@\s]+)(?:@(\S+))?$/.exec(words) ?? []
  if (provider === undefined || model === undefined) return refused(`there is no model ${words}. Give ${modelForms}.`)
  return { type: 'model', client: provider === 'anthropic' ? anthropicOf(model, url, env) : openaiOf(model, url, env) }
}

function refused(why: string): ModelChoice {
  return { type: 'refused', why }
}

function anthropicOf(model: string, url: string | undefined, env: Environment): ModelClient {
  const baseURL = url ?? env.ANTHROPIC_BASE_URL
  const apiKey = env.ANTHROPIC_API_KEY
  return anthropic({ model, ...(baseURL ? { baseURL } : {}), ...(apiKey ? { apiKey } : {}) })
}

function openaiOf(model: string, url: string | undefined, env: Environment): ModelClient {
  const baseURL = url ?? env.OPENAI_BASE_URL
  const apiKey = env.OPENAI_API_KEY
  return openai({ model, ...(baseURL ? { baseURL } : {}), ...(apiKey ? { apiKey } : {}) })
}
