// The top-level fields of a request: their types, and the beta headers that some of them need.
import { isObject } from 'everlong/internal'
import { z } from 'zod'
import { invalid, type Problem } from '../http/problem.ts'
import { cacheControl, toolName } from './blocks.ts'
import { check, extraInput, integer, oneOf, wrongTag } from './wording.ts'

export const beta = {
  contextManagement: 'context-management-2025-06-27',
  compactEdit: 'compact-2026-01-12',
  compactOnDemand: 'compact-2026-09-04',
  bindingControls: 'thinking-binding-controls-2026-08-01',
  windowExceeded: 'model-context-window-exceeded-2025-08-26',
  clearAt: 'mid-conversation-system-clear-at-2026-08-21',
  outputConfigMidway: 'mid-conversation-output-config-2026-07-01',
  toolChanges: 'mid-conversation-tool-changes-2026-07-01',
  taskBudgets: 'task-budgets-2026-03-13',
} as const

type Betas = ReadonlySet<string>

const shared = {
  model: z.string(),
  messages: z.array(z.unknown()),
  system: z.unknown().optional(),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.looseObject({ type: z.enum(['auto', 'any', 'tool', 'none']) }).nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
  cache_control: cacheControl,
  context_management: z.strictObject({ edits: z.array(z.unknown()).optional() }).nullish(),
  compaction: z
    .strictObject({ type: z.literal('summarize'), instructions: z.string().max(16_384).nullish() })
    .nullish(),
  mcp_servers: z.array(z.unknown()).nullish(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.unknown().optional(),
      task_budget: z
        .strictObject({ type: z.literal('tokens'), total: integer(1), remaining: integer(0).nullish() })
        .nullish(),
    })
    .nullish(),
  output_format: z.unknown().optional(),
  speed: z.enum(['standard', 'fast']).nullish(),
}

const countFields = z.strictObject(shared)

const createFields = z.strictObject({
  ...shared,
  max_tokens: integer(0),
  stream: z.boolean().optional(),
  stop_sequences: z.array(z.string()).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: integer(0).nullish(),
  metadata: z.strictObject({ user_id: z.string().max(512).nullish() }).nullish(),
  service_tier: z.enum(['auto', 'standard_only']).nullish(),
  container: z.unknown().optional(),
  inference_geo: z.string().nullish(),
  diagnostics: z.strictObject({ previous_message_id: z.string().nullish() }).nullish(),
  thread: z.looseObject({ type: z.enum(['create', 'continue']) }).nullish(),
  fallbacks: z.unknown().optional(),
  fallback_credit_token: z.unknown().optional(),
})

type FieldContext = { readonly endpoint: 'create' | 'count'; readonly betas: Betas; readonly isCurrent: boolean }

export function checkFields(body: object, { endpoint, betas, isCurrent }: FieldContext): Problem | undefined {
  return (
    checkBetaFields(body, betas) ??
    (isCurrent ? checkRemovedFields(body) : undefined) ??
    check(endpoint === 'create' ? createFields : countFields, body, '') ??
    checkThinking(body, betas) ??
    checkTools(body) ??
    checkEdits(body, betas)
  )
}

/** A field whose beta header is missing is unknown to the API. */
const needsBeta: Readonly<Record<string, readonly string[]>> = {
  context_management: [beta.contextManagement, beta.compactEdit],
}

function checkBetaFields(body: object, betas: Betas): Problem | undefined {
  for (const [field, names] of Object.entries(needsBeta)) {
    if (field in body && !names.some((name) => betas.has(name))) return invalid(`${field}: ${extraInput}`)
  }
  const output = 'output_config' in body && isObject(body.output_config) ? body.output_config : {}
  if (output.task_budget && !betas.has(beta.taskBudgets)) return invalid(`output_config.task_budget: ${extraInput}`)
  if (!('compaction' in body) || betas.has(beta.compactOnDemand)) return undefined
  return invalid(`The \`compaction\` parameter requires anthropic-beta: ${beta.compactOnDemand}`)
}

/** Removed since API version 2026-10-21, with any value. */
const removed = ['temperature', 'top_p', 'top_k']

function checkRemovedFields(body: object): Problem | undefined {
  const field = removed.find((name) => name in body)
  return field === undefined ? undefined : invalid(`${field}: ${extraInput}`)
}

const binding = z.strictObject({ prefix_mismatch_behavior: z.enum(['error', 'drop_block']).nullish() }).nullish()
const display = z.enum(['summarized', 'omitted', 'updates']).nullish()
const thinkingTypes: Readonly<Record<string, z.ZodType>> = {
  enabled: z.strictObject({
    type: z.literal('enabled'),
    budget_tokens: integer(1_024),
    block_binding: binding,
    display,
  }),
  adaptive: z.strictObject({ type: z.literal('adaptive'), block_binding: binding, display }),
  disabled: z.strictObject({ type: z.literal('disabled') }),
  between_tools: z.strictObject({ type: z.literal('between_tools') }),
}

function checkThinking(body: object, betas: Betas): Problem | undefined {
  const thinking = 'thinking' in body ? body.thinking : undefined
  if (!isObject(thinking)) return undefined
  const type = String(thinking.type)
  const schema = thinkingTypes[type]
  if (schema === undefined) return wrongTag('thinking', type, Object.keys(thinkingTypes))
  if ('block_binding' in thinking && !betas.has(beta.bindingControls)) {
    return invalid(`thinking.${type}.block_binding: ${extraInput}`)
  }
  return check(schema, thinking, `thinking.${type}`)
}

const customTool = z.strictObject({
  type: z.literal('custom').nullish(),
  name: toolName,
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  cache_control: cacheControl,
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
  input_examples: z.unknown().optional(),
  allowed_callers: z.unknown().optional(),
  eager_input_streaming: z.boolean().nullish(),
})
const serverTool = z.looseObject({ type: z.string(), cache_control: cacheControl })

function checkTools(body: object): Problem | undefined {
  const tools: unknown = 'tools' in body ? body.tools : undefined
  if (!Array.isArray(tools)) return undefined
  const names = new Set<string>()
  for (const [at, tool] of tools.entries()) {
    if (!isObject(tool)) return invalid(`tools.${at}: Input should be an object`)
    const isCustom = tool.type === undefined || tool.type === null || tool.type === 'custom'
    const problem = isCustom ? check(customTool, tool, `tools.${at}.custom`) : check(serverTool, tool, `tools.${at}`)
    if (problem) return problem
    if (typeof tool.name !== 'string') continue
    if (names.has(tool.name)) return invalid('tools: Tool names must be unique.')
    names.add(tool.name)
  }
  return undefined
}

const inputTokens = z.strictObject({ type: z.literal('input_tokens'), value: integer(1) })
const editTypes: Readonly<Record<string, { readonly schema: z.ZodType; readonly beta: string }>> = {
  clear_tool_uses_20250919: {
    beta: beta.contextManagement,
    schema: z.strictObject({
      type: z.string(),
      trigger: z.strictObject({ type: z.enum(['input_tokens', 'tool_uses']), value: integer(1) }).optional(),
      keep: z.strictObject({ type: z.literal('tool_uses'), value: integer(0) }).optional(),
      clear_at_least: inputTokens.nullish(),
      exclude_tools: z.array(z.string()).nullish(),
      clear_tool_inputs: z.unknown().optional(),
    }),
  },
  clear_thinking_20251015: {
    beta: beta.contextManagement,
    schema: z.strictObject({ type: z.string(), keep: z.unknown().optional() }),
  },
  compact_20260112: {
    beta: beta.compactEdit,
    schema: z.strictObject({
      type: z.string(),
      trigger: inputTokens.nullish(),
      pause_after_compaction: z.boolean().optional(),
      instructions: z.string().nullish(),
    }),
  },
}
const keepThinking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('thinking_turns'), value: integer(1) }),
  z.strictObject({ type: z.literal('all') }),
])

function checkEdits(body: object, betas: Betas): Problem | undefined {
  const management = 'context_management' in body ? body.context_management : undefined
  const edits: unknown = isObject(management) ? management.edits : undefined
  if (!Array.isArray(edits)) return undefined
  const known = Object.keys(editTypes).filter((type) => betas.has(editTypes[type]?.beta ?? ''))
  for (const [at, edit] of edits.entries()) {
    const path = `context_management.edits.${at}`
    if (!isObject(edit)) return invalid(`${path}: Input should be an object`)
    const type = String(edit.type)
    const entry = known.includes(type) ? editTypes[type] : undefined
    if (entry === undefined) return wrongTag(path, edit.type, known)
    const problem = check(entry.schema, edit, `${path}.${type}`) ?? checkEditDetails(edit, `${path}.${type}`)
    if (problem) return problem
  }
  return undefined
}

function checkEditDetails(edit: Readonly<Record<string, unknown>>, path: string): Problem | undefined {
  if (edit.type === 'clear_thinking_20251015') {
    return edit.keep === undefined || edit.keep === 'all' ? undefined : check(keepThinking, edit.keep, `${path}.keep`)
  }
  const inputs = edit.clear_tool_inputs
  const isList = Array.isArray(inputs) && inputs.every((name) => typeof name === 'string')
  if (inputs === undefined || inputs === null || typeof inputs === 'boolean' || isList) return undefined
  return invalid(`${path}.clear_tool_inputs: Input should be ${oneOf(['boolean', 'list'])}`)
}
