// GET /v1/models and /v1/models/{id}: the catalog in the API's shape.
import { knownModels, type ModelFacts } from 'everlong/internal'
import { compactsOnDemand } from '../rules/context-management.ts'
import type { World } from './world.ts'

export function listModels(world: World, query: URLSearchParams): object {
  const own = new Set(world.models.map((facts) => facts.id))
  const all = [...world.models, ...knownModels().filter((facts) => !own.has(facts.id))]
  const listed = all.map((facts) => world.factsOf(facts.id) ?? facts).map((facts) => modelInfo(facts, facts.id))
  const after = listed.findIndex((model) => model.id === query.get('after_id')) + 1
  const limit = Math.max(1, Math.min(1_000, Number(query.get('limit') ?? 20) || 20))
  const data = listed.slice(after, after + limit)
  return {
    data,
    has_more: after + limit < listed.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}

const yes = { supported: true } as const
const no = { supported: false } as const

/** The catalog has no release dates. The API too answers with the epoch if it does not know one. */
export function modelInfo(facts: ModelFacts, id: string) {
  return {
    type: 'model',
    id,
    display_name: displayName(facts.id),
    created_at: '1970-01-01T00:00:00Z',
    deprecated_at: null,
    retires_at: null,
    lifecycle: 'active',
    line: /opus|sonnet|haiku|fable|mythos/.exec(facts.id)?.[0] ?? null,
    max_input_tokens: facts.window,
    max_tokens: facts.maxOutput,
    capabilities: capabilitiesOf(facts),
  }
}

function capabilitiesOf(facts: ModelFacts) {
  const has = (...modes: readonly ModelFacts['thinking'][]) => (modes.includes(facts.thinking) ? yes : no)
  const thinks = has('budget', 'any', 'adaptive', 'always')
  const adapts = has('any', 'adaptive', 'always')
  const compacts = compactsOnDemand(facts) ? yes : no
  return {
    batch: no,
    citations: no,
    code_execution: no,
    image_input: yes,
    pdf_input: yes,
    structured_outputs: no,
    server_tools: { supported: false, code_execution: no, web_search: no },
    effort: { supported: adapts.supported, low: adapts, medium: adapts, high: adapts, xhigh: adapts, max: adapts },
    thinking: {
      ...thinks,
      types: {
        enabled: has('budget', 'any'),
        adaptive: adapts,
        disabled: facts.thinking === 'always' ? no : yes,
        between_tools: no,
      },
    },
    compaction: { ...compacts, summarize: compacts },
    context_management: {
      supported: true,
      clear_tool_uses_20250919: yes,
      clear_thinking_20251015: thinks,
      compact_20260112: adapts,
    },
  }
}

function displayName(id: string): string {
  const words = id.replace(/(\d)-(\d)/g, '$1.$2').split('-')
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(' ')
}
