// From the value of --model to a model client.
import { type Environment, type ModelClient, offline, recorded } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { openai } from 'everlong/openai'
import type { ModelSpec } from '../../option-values.ts'

export type ModelChoice =
  | { readonly type: 'model'; readonly client: ModelClient }
  | { readonly type: 'refused'; readonly why: string }

export type ModelWorld = {
  readonly env: Environment
  /** The summary of the compaction that --before names. */
  readonly recordedSummary: string | undefined
}

export function chooseModel(spec: ModelSpec, { env, recordedSummary }: ModelWorld): ModelChoice {
  switch (spec.type) {
    case 'offline':
      return { type: 'model', client: offline() }
    case 'recorded':
      if (recordedSummary === undefined) {
        return refused('there is no recorded summary. Name a compaction with --before and the uuid of its boundary.')
      }
      return { type: 'model', client: recorded({ summaries: () => recordedSummary }) }
    case 'anthropic':
      return { type: 'model', client: anthropicOf(spec.model, spec.url, env) }
    case 'openai':
      return { type: 'model', client: openaiOf(spec.model, spec.url, env) }
  }
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
