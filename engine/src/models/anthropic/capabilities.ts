// What Claude models can do: read off the catalog, or off the Models API's answer.
import { modelFacts } from '../../core/catalog/models.ts'
import { numberAt, objectAt } from '../../core/message/json.ts'
import type { ModelCapabilities } from '../../core/ports/model.ts'
import { noCapabilities } from '../capabilities.ts'

/** A model that the catalog does not know may sit behind somebody's gateway: it is asked for nothing special. */
export function fromCatalog(model: string): ModelCapabilities {
  const facts = modelFacts(model)
  if (facts === undefined) return { ...noCapabilities, promptCache: true }
  return {
    ...noCapabilities,
    window: facts.window,
    maxOutput: facts.maxOutput,
    contextManagement: true,
    compaction: facts.compaction,
    promptCache: true,
  }
}

export function fromModelInfo(info: unknown): Partial<ModelCapabilities> {
  const window = numberAt(info, 'max_input_tokens')
  const maxOutput = numberAt(info, 'max_tokens')
  const stated = objectAt(info, 'capabilities')
  return {
    ...(window === undefined ? {} : { window }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    ...(stated === undefined ? {} : { ...managementIn(stated), compaction: compactionIn(stated) }),
  }
}

function managementIn(stated: unknown): Partial<ModelCapabilities> {
  const management = objectAt(stated, 'context_management')
  return management === undefined ? {} : { contextManagement: management.supported === true }
}

function compactionIn(stated: unknown): ModelCapabilities['compaction'] {
  if (objectAt(stated, 'compaction')?.supported === true) return 'on-demand'
  const byThreshold = objectAt(objectAt(stated, 'context_management'), 'compact_20260112')
  return byThreshold?.supported === true ? 'by-threshold' : 'none'
}
