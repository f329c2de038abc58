// Checks thinking blocks in a request: genuine, and, on models that bind them, after exactly the same prefix. Reads what the
// client sent, never the result of context management.
import type { Block } from 'everlong'
import { isThinking, type JsonObject } from 'everlong/internal'
import { fine, invalid, type Outcome, refused } from '../http/problem.ts'
import { digestOf } from '../prompt/digest.ts'
import { beta } from '../request/fields.ts'
import {
  type InputMessage,
  isCompaction,
  type MessagesRequest,
  type PlacedBlock,
  placedIn,
} from '../request/request.ts'
import { type Claim, markOf, type Signer } from './signature.ts'

export type InputTransformation = {
  readonly type: 'thinking_dropped' | 'thinking_mismatch_allowed'
  readonly path: string
  readonly reason: 'prefix_binding_mismatch' | 'model_binding_mismatch'
}

export type Bound = {
  /** The messages without dropped blocks. */
  readonly messages: readonly InputMessage[]
  readonly transformations: readonly InputTransformation[]
  /** The place of the next thinking block. */
  readonly place: Place
}

export type BindingPorts = {
  readonly signer: Signer
  readonly digest: (block: JsonObject) => string
  /** Accounts from before 2026-08-31 are exempt unless they set the field. */
  readonly enforced: boolean
  /** Thinking that another API signed, as in recorded conversations, passes unchecked. */
  readonly acceptForeign: boolean
}

/** The state of the walk: what a thinking block here would be bound to. */
export type Place = {
  readonly prefix: string
  /** The prefix before an on-demand compaction replaced its beginning. */
  readonly before: string | undefined
  readonly previous: string
  readonly seen: number
  /** How many thinking blocks directly precede it. */
  readonly run: number
}

export const nowhere: Place = { prefix: '', before: undefined, previous: '', seen: 0, run: 0 }

export function bindThinking(request: MessagesRequest, ports: BindingPorts): Outcome<Bound> {
  const walk = createWalk(request, ports)
  const latest = request.messages.findLast((message) => message.role === 'assistant')
  for (const item of sinceCompaction(request.messages)) {
    const problem = isThinking(item.block)
      ? walk.think(item, item.message === latest)
      : walk.pass(item.block, item.message.role)
    if (problem) return refused(problem)
  }
  const dropped = new Set(walk.transformations.filter((one) => one.type === 'thinking_dropped').map((one) => one.path))
  return fine({
    messages: dropped.size === 0 ? request.messages : without(request.messages, dropped),
    transformations: walk.transformations,
    place: walk.place(),
  })
}

function createWalk(request: MessagesRequest, ports: BindingPorts) {
  const transformations: InputTransformation[] = []
  let place = startOf(request, ports)
  let dropping = false

  const think = (item: PlacedBlock, isLatest: boolean) => {
    const claim = claimOf(item.block, ports.signer)
    if (claim === undefined && ports.acceptForeign) return undefined
    if (claim?.kind !== 'thinking' || (isLatest && claim.run !== place.run)) return forged(item, isLatest)
    place = { ...place, run: place.run + 1 }
    const verdict = verdictOn(claim, { place, request, dropping })
    if (verdict === 'prefix_binding_mismatch') {
      const answer = answerTo(request, ports.enforced)
      if (answer === 'error') return mismatched(item, request.betas.has(beta.bindingControls))
      transformations.push({ type: answer, path: item.path, reason: verdict })
      dropping = answer === 'thinking_dropped'
      if (dropping) return undefined
    } else if (verdict === 'model_binding_mismatch') {
      transformations.push({ type: 'thinking_dropped', path: item.path, reason: verdict })
      return undefined
    }
    place = { ...place, previous: markOf(signatureOf(item.block)), seen: place.seen + 1 }
    return undefined
  }

  const pass = (block: Block, role: string) => {
    dropping = false
    place = advance(place, block, { role, request, ports })
    return undefined
  }
  return { think, pass, transformations, place: () => place }
}

type Signing = { readonly model: string; readonly signer: Signer; readonly tokens: number; readonly hides: boolean }

export function signThinking(
  thought: Block,
  place: Place,
  context: Signing,
): { readonly block: Block; readonly place: Place } {
  const isHidden = context.hides && thought.type === 'thinking'
  const block = isHidden ? { ...thought, thinking: '' } : thought
  const claim: Claim = {
    kind: 'thinking',
    model: context.model,
    prefix: place.prefix,
    previous: place.previous,
    seen: place.seen,
    run: place.run,
    tokens: context.tokens,
    isHidden,
  }
  const signature = context.signer.sign(claim, textIn(block))
  const signed = block.type === 'thinking' ? { ...block, signature } : { ...block, data: signature }
  return { block: signed, place: { ...place, previous: markOf(signature), seen: place.seen + 1, run: place.run + 1 } }
}

function startOf(request: MessagesRequest, ports: BindingPorts): Place {
  if (!request.facts.bindsThinking) return nowhere
  // Deferred tools may be added and removed until something refers to them.
  const tools = request.tools.filter((tool) => tool.defer_loading !== true).map(ports.digest)
  return { ...nowhere, prefix: digestOf(JSON.stringify([request.system.map(ports.digest), tools])) }
}

type AdvanceContext = { readonly role: string; readonly request: MessagesRequest; readonly ports: BindingPorts }

/** The place after one more block. */
export function advance(place: Place, block: Block, context: AdvanceContext): Place {
  const { request, ports } = context
  if (!request.facts.bindsThinking || block.type === 'cache_edits') return { ...place, run: 0 }
  const step = `${context.role}\n${ports.digest(block)}`
  if (block.type === 'compaction' && typeof block.content === 'string') {
    const start = startOf(request, ports)
    const claim = typeof block.signature === 'string' ? ports.signer.read(block.signature, '') : undefined
    return {
      ...start,
      prefix: digestOf(`${start.prefix}\n${step}`),
      before: claim?.kind === 'sealed' ? undefined : claim?.prefix,
    }
  }
  return {
    ...place,
    run: 0,
    prefix: digestOf(`${place.prefix}\n${step}`),
    before: place.before === undefined ? undefined : digestOf(`${place.before}\n${step}`),
  }
}

function verdictOn(
  claim: Claim & { readonly kind: 'thinking' },
  at: { readonly place: Place; readonly request: MessagesRequest; readonly dropping: boolean },
) {
  if (!at.request.facts.bindsThinking) return 'fits'
  if (claim.model !== at.request.model) return 'model_binding_mismatch'
  const samePrefix = claim.prefix === at.place.prefix || claim.prefix === at.place.before
  // Thinking may be dropped oldest first, or newest last. The rest must follow without a gap, and none may return that was
  // missing when this block was made.
  const noGap = at.place.seen === 0 || claim.previous === at.place.previous
  const noReturn = at.place.seen <= claim.seen
  return samePrefix && noGap && noReturn && !at.dropping ? 'fits' : 'prefix_binding_mismatch'
}

function answerTo(request: MessagesRequest, enforced: boolean): 'error' | InputTransformation['type'] {
  const behavior = request.thinking?.block_binding?.prefix_mismatch_behavior
  if (behavior === 'drop_block') return 'thinking_dropped'
  return enforced || behavior === 'error' ? 'error' : 'thinking_mismatch_allowed'
}

function mismatched(item: PlacedBlock, knowsControls: boolean) {
  return invalid(
    `${item.path}: Invalid \`signature\` in \`${item.block.type}\` block. The block is bound to a different conversation. ` +
      'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".' +
      (knowsControls
        ? ''
        : ` That setting requires the \`${beta.bindingControls}\` value in the \`anthropic-beta\` header.`),
  )
}

function forged(item: PlacedBlock, isLatest: boolean) {
  if (!isLatest || signatureOf(item.block) === '') {
    return invalid(`${item.path}: Invalid \`signature\` in \`${item.block.type}\` block`)
  }
  return invalid(
    `${item.path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
      'These blocks must remain as they were in the original response.',
  )
}

/** Ignores the text of a block that was sent without one. */
function claimOf(block: Block, signer: Signer): Claim | undefined {
  const signature = signatureOf(block)
  const hidden = signer.read(signature, '')
  return hidden?.kind === 'thinking' && hidden.isHidden ? hidden : signer.read(signature, textIn(block))
}

export function signatureOf(block: Block): string {
  const value = block.type === 'thinking' ? block.signature : block.data
  return typeof value === 'string' ? value : ''
}

function textIn(block: Block): string {
  return block.type === 'thinking' ? String(block.thinking) : ''
}

/** Blocks before the last compaction block are not read, so they are not checked either. */
function sinceCompaction(messages: readonly InputMessage[]): readonly PlacedBlock[] {
  const items = placedIn(messages)
  const at = items.findLastIndex(({ block }) => isCompaction(block))
  return at < 0 ? items : items.slice(at)
}

function without(messages: readonly InputMessage[], paths: ReadonlySet<string>): readonly InputMessage[] {
  const gone = new Set(placedIn(messages).flatMap(({ block, path }) => (paths.has(path) ? [block] : [])))
  return messages.map((message) => ({ ...message, content: message.content.filter((block) => !gone.has(block)) }))
}

/** Reported only if the request had the beta header. */
export function reportsTransformations(request: MessagesRequest): boolean {
  return request.betas.has(beta.bindingControls)
}
