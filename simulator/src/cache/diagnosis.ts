// Why a prefix could not be reused: the first difference between a request and the one that it names as its previous.
import type { Layer, Prompt } from '../prompt/prompt.ts'
import type { CacheUse } from './cache.ts'

export type MissReason =
  | {
      readonly type: 'model_changed' | 'system_changed' | 'tools_changed' | 'messages_changed'
      readonly cache_missed_input_tokens: number
    }
  | { readonly type: 'previous_message_not_found' | 'unavailable' }

export type Diagnoses = {
  /** Stored only for requests that asked for a diagnosis, as in the API. */
  readonly keep: (messageId: string, prompt: Prompt, use: CacheUse) => void
  /** Undefined if there is no difference: the request only continued. */
  readonly compare: (previousId: string, prompt: Prompt) => MissReason | undefined
}

type Kept = { readonly prompt: Prompt; readonly cached: number }

const maxKept = 200

export function createDiagnoses(): Diagnoses {
  const kept = new Map<string, Kept>()
  return {
    keep: (id, prompt, use) => {
      kept.set(id, { prompt, cached: use.read + use.write5m + use.write1h })
      const oldest = kept.keys().next()
      if (kept.size > maxKept && !oldest.done) kept.delete(oldest.value)
    },
    compare: (id, prompt) => {
      const previous = kept.get(id)
      return previous === undefined ? { type: 'previous_message_not_found' } : difference(previous, prompt)
    },
  }
}

const layers: readonly { readonly layer: Layer; readonly reason: 'tools_changed' | 'system_changed' }[] = [
  { layer: 'tools', reason: 'tools_changed' },
  { layer: 'system', reason: 'system_changed' },
]

function difference(previous: Kept, prompt: Prompt): MissReason | undefined {
  const before = previous.prompt
  const missed = (common: number) => ({ cache_missed_input_tokens: Math.max(0, previous.cached - common) })
  if (nameOf(before) !== nameOf(prompt)) return { type: 'model_changed', ...missed(0) }
  let common = 0
  for (const { layer, reason } of layers) {
    const [old, now] = [digests(before, layer), digests(prompt, layer)]
    if (old.join() !== now.join()) return { type: reason, ...missed(common + commonTokens(before, prompt, layer)) }
    common += tokensOf(before, layer)
  }
  const shared = commonTokens(before, prompt, 'messages')
  if (shared < tokensOf(before, 'messages')) return { type: 'messages_changed', ...missed(common + shared) }
  return before.settings.all === prompt.settings.all ? undefined : { type: 'unavailable' }
}

/** A change of speed counts as a change of the model. */
function nameOf({ settings }: Prompt): string {
  return `${settings.model} ${settings.system}`
}

function digests(prompt: Prompt, layer: Layer): readonly string[] {
  return prompt.cells.filter((cell) => cell.layer === layer).map((cell) => cell.digest)
}

function tokensOf(prompt: Prompt, layer: Layer): number {
  return prompt.cells.reduce((sum, cell) => (cell.layer === layer ? sum + cell.tokens : sum), 0)
}

function commonTokens(before: Prompt, now: Prompt, layer: Layer): number {
  const ours = now.cells.filter((cell) => cell.layer === layer)
  let tokens = 0
  for (const [at, cell] of before.cells.filter((cell) => cell.layer === layer).entries()) {
    if (ours[at]?.digest !== cell.digest) break
    tokens += cell.tokens
  }
  return tokens
}
