// Creates one message from a valid request: context management, limits, cache, the script, usage. Independent of HTTP.
import type { Block } from 'everlong'
import { isObject, type JsonObject } from 'everlong/internal'
import type { StreamedMessage } from '../answer/events.ts'
import { type Finished, finish } from '../answer/finish.ts'
import { deltaUsageBody, iterationBody, noSampling, type Sampling, samplingOf, usageBody } from '../answer/usage.ts'
import type { CacheUse } from '../cache/cache.ts'
import { checkCacheEdits, deletionOf, nothingDeleted, withoutDeleted } from '../context/cache-edits.ts'
import { applyClearing, type Cleared } from '../context/clear.ts'
import { scriptRequest } from '../context/script-view.ts'
import { type Messages, viewOf } from '../context/view.ts'
import type { Problem } from '../http/problem.ts'
import { type Overflow, overflowOf } from '../overflow/overflow.ts'
import { buildPrompt, type Prompt } from '../prompt/prompt.ts'
import type { MessagesRequest } from '../request/request.ts'
import { checkCompactionBlocks } from '../rules/compaction-blocks.ts'
import { editsOf } from '../rules/context-management.ts'
import { advance, type Bound, bindThinking, reportsTransformations } from '../thinking/binding.ts'
import { compactIfDue, compactOnDemand, type EditCompaction } from './compaction.ts'
import type { Ports, RequestContext } from './world.ts'

export type Reply =
  | { readonly type: 'message'; readonly streamed: StreamedMessage; readonly samplings: readonly Sampling[] }
  | { readonly type: 'overflow'; readonly overflow: Overflow }
  | { readonly type: 'problem'; readonly problem: Problem }

type Prepared = {
  readonly request: MessagesRequest
  readonly ports: Ports
  readonly bound: Bound
  readonly cleared: Cleared
}

export async function createMessage(request: MessagesRequest, context: RequestContext): Promise<Reply> {
  const prepared = prepare(request, context)
  if ('problem' in prepared) return { type: 'problem', problem: prepared.problem }
  const work = { request, messages: prepared.cleared.messages, ports: prepared.ports }
  if (isObject(request.body.compaction)) {
    const made = await compactOnDemand(work, prepared.bound.place, context)
    if ('window' in made) return { type: 'overflow', overflow: made }
    const finished = { ...nothing, content: made.content, stopReason: made.stopReason }
    return assemble({ prepared, context, finished, sampling: noSampling, samplings: [made.sampling] })
  }
  const compaction = await compactIfDue(work, context)
  if (compaction !== undefined && 'window' in compaction) return { type: 'overflow', overflow: compaction }
  if (compaction?.pauses) {
    const finished = { ...nothing, content: [compaction.block], stopReason: 'compaction' }
    return assemble({ prepared, context, finished, sampling: noSampling, samplings: [compaction.sampling], compaction })
  }
  return answer(prepared, context, compaction)
}

/** Everything before a model is asked. `count_tokens` uses it too. */
export function prepare(request: MessagesRequest, context: RequestContext): Prepared | { readonly problem: Problem } {
  const ports = context.world.ports()
  const problem = checkCompactionBlocks(request, ports.signer) ?? checkCacheEdits(request)
  if (problem) return { problem }
  const bound = bindThinking(request, ports)
  if (!bound.ok) return bound
  const view = viewOf(request, bound.value.messages)
  const edits = editsOf(request)
  const measure = (messages: Messages) => buildPrompt(request, messages, ports).tokens
  const cleared = edits.length === 0 ? { messages: view, applied: [] } : applyClearing(view, edits, measure)
  return { request, ports, bound: bound.value, cleared }
}

const nothing: Finished = {
  content: [],
  stopReason: 'max_tokens',
  stopSequence: null,
  outputTokens: 0,
  thinkingTokens: 0,
}

async function answer(
  prepared: Prepared,
  context: RequestContext,
  compaction: EditCompaction | undefined,
): Promise<Reply> {
  const { request, ports } = prepared
  const { cache } = context.organization
  const messages = compaction?.messages ?? prepared.cleared.messages
  const prompt = buildPrompt(request, messages, ports)
  const use = cache.look(prompt, context.started, request.facts.cacheMinimum)
  const deletion = request.extensions.cacheEdits ? deletionOf(messages, prompt, use) : nothingDeleted
  const tokens = prompt.tokens - deletion.tokens
  const overflow = overflowOf(request, tokens)
  if (overflow !== undefined) return { type: 'overflow', overflow }
  const finished =
    request.maxTokens === 0
      ? nothing
      : await ask({ prepared, context, compaction, messages: withoutDeleted(messages, deletion), tokens })
  cache.commit(use, context.started)
  const sampling = samplingOf('message', use, {
    read: use.read - deletion.tokens,
    deleted: deletion.tokens,
    output: finished.outputTokens,
    thinking: finished.thinkingTokens,
  })
  const samplings = compaction === undefined ? [sampling] : [compaction.sampling, sampling]
  return assemble({ prepared, context, finished, sampling, samplings, compaction, cached: { prompt, use } })
}

type Asking = {
  readonly prepared: Prepared
  readonly context: RequestContext
  readonly compaction: EditCompaction | undefined
  readonly messages: Messages
  readonly tokens: number
}

async function ask({ prepared, context, compaction, messages, tokens }: Asking): Promise<Finished> {
  const { request, ports, bound } = prepared
  const { world } = context
  const room = request.facts.window - tokens
  const limit =
    request.maxTokens <= room
      ? ({ tokens: request.maxTokens, reason: 'max_tokens' } as const)
      : ({ tokens: room, reason: 'model_context_window_exceeded' } as const)
  const said = await world.ask(world.options.script, scriptRequest(request, messages, limit.tokens))
  const block = compaction?.block
  const place = block === undefined ? bound.place : advance(bound.place, block, { role: 'assistant', request, ports })
  return finish(said, { request, ports, place, limit })
}

type Assembly = {
  readonly prepared: Prepared
  readonly context: RequestContext
  readonly finished: Finished
  /** The counts at the top level of `usage`, which exclude compactions. */
  readonly sampling: Sampling
  readonly samplings: readonly Sampling[]
  readonly compaction?: EditCompaction | undefined
  readonly cached?: { readonly prompt: Prompt; readonly use: CacheUse }
}

function assemble(assembly: Assembly): Reply {
  const { prepared, finished, sampling, samplings, compaction } = assembly
  const { request, ports } = prepared
  const compacts =
    isObject(request.body.compaction) || editsOf(request).some((edit) => edit.type === 'compact_20260112')
  const iterations = compacts ? samplings.map((one) => iterationBody(one, request.model)) : undefined
  const own: readonly Block[] = compaction === undefined || compaction.pauses ? [] : [compaction.block]
  const id = ports.ids('msg')
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [...own, ...finished.content],
    stop_reason: finished.stopReason,
    stop_sequence: finished.stopSequence,
    usage: usageBody(sampling, iterations),
    ...extrasOf(assembly, id),
  }
  const before = compaction?.before ?? sampling
  const startUsage = usageBody({ ...before, output: Math.min(1, sampling.output) }, undefined)
  const streamed = { message, startUsage, deltaUsage: deltaUsageBody(sampling, iterations) }
  return { type: 'message', streamed, samplings }
}

/** Fields that are present only on request. */
function extrasOf({ prepared, context, cached }: Assembly, id: string): JsonObject {
  const { request, bound, cleared } = prepared
  const { diagnostics } = request.body
  return {
    ...(isObject(request.body.context_management) ? { context_management: { applied_edits: cleared.applied } } : {}),
    ...(reportsTransformations(request) ? { input_transformations: bound.transformations } : {}),
    ...(isObject(diagnostics)
      ? { diagnostics: diagnose(diagnostics.previous_message_id, { id, context, cached }) }
      : {}),
  }
}

type Diagnosing = { readonly id: string; readonly context: RequestContext; readonly cached: Assembly['cached'] }

function diagnose(previous: unknown, { id, context, cached }: Diagnosing): object | null {
  const { diagnoses } = context.organization
  if (cached === undefined) return null
  const reason = typeof previous === 'string' ? diagnoses.compare(previous, cached.prompt) : undefined
  diagnoses.keep(id, cached.prompt, cached.use)
  return reason === undefined ? null : { cache_miss_reason: reason }
}
