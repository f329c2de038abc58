// Turns text such as `anthropic:claude-opus-5` into a model. Without any text, the keys in the environment decide; without a key,
// returns instructions for the person.
import type { Environment } from 'everlong'
import type { AnthropicOptions } from 'everlong/anthropic'
import type { ChosenModel, DemoModel } from './chosen.ts'
import { patientClient } from './patient.ts'

export type ModelSetup = { readonly title: string; readonly steps: readonly SetupStep[] }
export type SetupStep = { readonly title: string; readonly commands: readonly string[] }

export type ModelChoice =
  | ChosenModel
  /** No key and no server: one screen says what to do. */
  | { readonly type: 'none'; readonly setup: ModelSetup }
  | { readonly type: 'refused'; readonly why: string }

export type ModelWorld = {
  readonly env: Environment
  /** The project's folder, for the demo. */
  readonly folder: string
  /** Starts the model called `demo`, if the host has one. */
  readonly demo?: DemoModel | undefined
  readonly retryMinutes?: number | undefined
  /** Replaces the network and the clock. */
  readonly ports?: Pick<AnthropicOptions, 'fetch' | 'ports'>
}

export const modelForms = 'anthropic:MODEL[@URL], openai:MODEL[@URL], demo, or the name of a Claude model'
const defaultModel = 'anthropic:claude-opus-5'

/** The text in use: from the command line or the settings, then the environment, then the default if there is a key. */
export function configuredModel(words: string | undefined, env: Environment): string | undefined {
  const hasKey = Boolean(env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN)
  return words ?? env.EVERLONG_MODEL ?? (hasKey ? defaultModel : undefined)
}

export async function chooseModel(words: string | undefined, world: ModelWorld): Promise<ModelChoice> {
  const { env } = world
  const wanted = configuredModel(words, env)
  if (wanted === undefined && env.OPENAI_API_KEY) {
    return { type: 'refused', why: 'OPENAI_API_KEY is set, but no model is named. Add --model openai:MODEL.' }
  }
  if (wanted === undefined) return { type: 'none', setup }
  if (wanted === 'demo') {
    return world.demo?.(world.folder) ?? { type: 'refused', why: 'There is no demo model here.' }
  }
  const [, provider = 'anthropic', name = '', url] = /^(?:(anthropic|openai):)?([^@\s]+)(?:@(\S+))?$/.exec(wanted) ?? []
  const isNamed = /^(anthropic|openai):/.test(wanted) || /^claude-/.test(wanted)
  if (name === '' || !isNamed) return { type: 'refused', why: `${wanted} names no model. Give ${modelForms}.` }
  if (url !== undefined && !URL.canParse(url)) return { type: 'refused', why: `${url} is no URL. Give ${modelForms}.` }
  return provider === 'openai'
    ? openaiModel(wanted, name, { url, ...world })
    : anthropicModel(wanted, name, { url, ...world })
}

type Endpoint = ModelWorld & { readonly url: string | undefined }

async function anthropicModel(
  words: string,
  name: string,
  { url, env, ports, retryMinutes }: Endpoint,
): Promise<ModelChoice> {
  const baseURL = url ?? env.ANTHROPIC_BASE_URL
  const apiKey = env.ANTHROPIC_API_KEY
  const hasToken = Boolean(env.ANTHROPIC_AUTH_TOKEN)
  if (!apiKey && !hasToken && !baseURL) return { type: 'none', setup }
  const { anthropic } = await import('everlong/anthropic')
  // The SDK finds the token by itself. A server on this machine may need neither.
  const key = apiKey || (hasToken ? undefined : 'none')
  const options = { model: name, ...ports, ...(baseURL ? { baseURL } : {}), ...(key ? { apiKey: key } : {}) }
  const client = patientClient((retry = {}) => anthropic({ ...options, retry }), retryMinutes)
  return { type: 'model', words, name, client }
}

async function openaiModel(
  words: string,
  name: string,
  { url, env, ports, retryMinutes }: Endpoint,
): Promise<ModelChoice> {
  const baseURL = url ?? env.OPENAI_BASE_URL
  const apiKey = env.OPENAI_API_KEY
  if (!apiKey && !baseURL) return { type: 'none', setup }
  const { openai } = await import('everlong/openai')
  const options = { model: name, ...ports, ...(baseURL ? { baseURL } : {}), ...(apiKey ? { apiKey } : {}) }
  const client = patientClient((retry = {}) => openai({ ...options, retry }), retryMinutes)
  return { type: 'model', words, name, client }
}

const setup: ModelSetup = {
  title: 'Everlong needs a model. Choose one of these:',
  steps: [
    {
      title: 'Set a key',
      commands: ['export ANTHROPIC_API_KEY=…', 'export OPENAI_API_KEY=… EVERLONG_MODEL=openai:MODEL'],
    },
    {
      title: 'Point to a local server that speaks the OpenAI API',
      commands: ['everlong agent --model openai:MODEL@http://localhost:11434/v1'],
    },
    { title: 'Run the demo, without a key or a network', commands: ['everlong agent --model demo'] },
  ],
}
