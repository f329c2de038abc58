// What a client's models can do, as data: what the host says, then what the provider was asked, then the catalog.
import type { ModelCapabilities } from '../core/ports/model.ts'

export type Known = {
  /** Set by the host; comes first. */
  readonly set?: Partial<ModelCapabilities>
  readonly catalog: (model: string) => ModelCapabilities
}

export type CapabilityBook = {
  readonly of: (model: string) => ModelCapabilities
  readonly asked: (model: string) => ModelCapabilities | undefined
  readonly learn: (model: string, capabilities: Partial<ModelCapabilities>) => ModelCapabilities
}

export const noCapabilities: ModelCapabilities = {
  cacheEdits: false,
  contextManagement: false,
  compaction: 'none',
  promptCache: false,
  offline: false,
}

export function createCapabilities({ set, catalog }: Known): CapabilityBook {
  const learned = new Map<string, Partial<ModelCapabilities>>()
  const of = (model: string): ModelCapabilities => ({ ...catalog(model), ...learned.get(model), ...set })
  return {
    of,
    asked: (model) => (learned.has(model) ? of(model) : undefined),
    learn: (model, capabilities) => {
      learned.set(model, capabilities)
      return of(model)
    },
  }
}
