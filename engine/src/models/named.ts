// A model by a name as people type it: `offline`, `anthropic:MODEL`, `openai:MODEL` or `openai:MODEL@URL`. Makes the
// client; asks nobody.
import type { ModelClient } from '../core/ports/model.ts'
import { anthropic } from './anthropic/client.ts'
import { type OfflineOptions, offline } from './offline.ts'
import { openai } from './openai/client.ts'
import { type RecordedOptions, recorded } from './recorded.ts'
import type { SdkOptions } from './sdk.ts'

export type NamedOptions = SdkOptions & {
  readonly apiKey?: string
  readonly offline?: OfflineOptions
  /** Where `recorded` is a name that makes sense. */
  readonly recorded?: RecordedOptions
}

export type UnknownModel = { readonly type: 'unknown-model'; readonly why: string }
export type NamedModel = { readonly type: 'model'; readonly client: ModelClient } | UnknownModel

export function modelNamed(name: string, options: NamedOptions = {}): NamedModel {
  const { offline: asOffline, recorded: asRecorded, ...sdk } = options
  const [provider = '', ...rest] = name.trim().split(':')
  const model = rest.join(':')
  if (provider === 'offline' && model === '') return found(offline(asOffline))
  if (provider === 'recorded' && model === '' && asRecorded !== undefined) return found(recorded(asRecorded))
  if (provider === 'anthropic' && model !== '') return found(anthropic({ ...sdk, model }))
  if (provider === 'openai' && model !== '') return openaiNamed(model, sdk)
  const names = ['offline', ...(asRecorded === undefined ? [] : ['recorded']), 'anthropic:MODEL', 'openai:MODEL[@URL]']
  return { type: 'unknown-model', why: `'${name}' is none of ${names.join(', ')}` }
}

/** Names of models may hold an @ of their own; what stands behind the last one is an address only if it looks like one. */
function openaiNamed(text: string, sdk: Omit<NamedOptions, 'offline' | 'recorded'>): NamedModel {
  const match = /^(?<model>.+)@(?<url>https?:\/\/[^@\s]+)$/.exec(text)
  const { model = text, url } = match?.groups ?? {}
  if (url === undefined) return found(openai({ ...sdk, model }))
  if (!URL.canParse(url)) return { type: 'unknown-model', why: `'${url}' is no address` }
  return found(openai({ ...sdk, model, baseURL: url }))
}

function found(client: ModelClient): NamedModel {
  return { type: 'model', client }
}
