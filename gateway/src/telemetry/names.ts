// Names for traces and metrics. Callers choose the names of models, so only those of the catalog are used.
import { modelFacts } from 'everlong/internal'
import type { AskedUpstream } from './telemetry.ts'

export function modelName(model: string): string {
  return modelFacts(model) ? model : 'other'
}

/** The name in the GenAI conventions, otherwise the name in the configuration. */
export function providerOf({ name, origin }: AskedUpstream): string {
  if (/(^|\.)anthropic\.com$/.test(origin.hostname)) return 'anthropic'
  if (/(^|\.)openai\.com$/.test(origin.hostname)) return 'openai'
  return name
}
