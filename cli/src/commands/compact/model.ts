// From the value of --model to a model client.
import { type Environment, type ModelClient, offline, recorded } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { openai } from 'everlong/openai'
import type { ModelSpec } from '../../option-values.ts'

export type ModelWorld = {
  readonly env: Environment
  /** The summary of the compaction that --before names. */
  readonly recordedSummary: () => string
}

export const noRecordedSummary =
  'there is no recorded summary. Name a compaction with --before and the uuid of its boundary.'

export function chooseModel(spec: ModelSpec, { env, recordedSummary }: ModelWorld): ModelClient {
  switch (spec.type) {
    case 'offline':
      return offline()
    case 'recorded':
      return recorded({ summaries: recordedSummary })
    case 'anthropic':
      return anthropicOf(spec.model, spec.url, env)
    case 'openai':
      return openaiOf(spec.model, spec.url, env)
  }
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
