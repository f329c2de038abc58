// Client versions whose files differ, and the envelope of their records. Key order matters: the index reads the head
// and tail of a line.
import type { JsonObject } from '../../core/message/json.ts'

export const clientStyles = [
  '1.0', // results in a chain, sub-agents inside the file
  '2.0', // as 1.0, with thinking and file history
  '2.1-early', // parallel results as sibling branches, progress lines in the chain, stop_reason null
  '2.1-late', // envelope at the end, attachments in the chain, kept messages, the same usage on every line
] as const
export type ClientStyle = (typeof clientStyles)[number]

export type Identity = {
  readonly style: ClientStyle
  readonly sessionId: string
  readonly cwd: string
  readonly gitBranch: string
  readonly slug: string
}

export type Place = {
  readonly parentUuid: string | null
  readonly logicalParentUuid?: string
  readonly sidechain?: { readonly agentId: string }
}

const versions: Readonly<Record<ClientStyle, string>> = {
  '1.0': '1.0.98',
  '2.0': '2.0.76',
  '2.1-early': '2.1.20',
  '2.1-late': '2.1.226',
}

const models: Readonly<Record<ClientStyle, string>> = {
  '1.0': 'claude-sonnet-4-20250514',
  '2.0': 'claude-opus-4-5-20251101',
  '2.1-early': 'claude-opus-4-5-20251101',
  '2.1-late': 'claude-opus-4-8',
}

export function modelOf(style: ClientStyle): string {
  return models[style]
}

/** Since 2.1.1 the parent of a result is its call; before, results form a chain. */
export function resultsBranch(style: ClientStyle): boolean {
  return style === '2.1-early' || style === '2.1-late'
}

/** Envelope and body in the key order of the style. */
export function frame(identity: Identity, place: Place, body: JsonObject): JsonObject {
  const { style, cwd, sessionId, gitBranch, slug } = identity
  const start = {
    parentUuid: place.parentUuid,
    ...(place.logicalParentUuid === undefined ? {} : { logicalParentUuid: place.logicalParentUuid }),
    isSidechain: place.sidechain !== undefined,
  }
  const agent = place.sidechain && style !== '1.0' ? { agentId: place.sidechain.agentId } : {}
  const version = versions[style]
  if (style === '2.1-late') {
    const end = { userType: 'external', entrypoint: 'cli', cwd, sessionId, version, gitBranch, slug }
    return { ...start, ...agent, ...body, ...end }
  }
  const named = style === '1.0' ? {} : { slug }
  return { ...start, userType: 'external', cwd, sessionId, version, gitBranch, ...agent, ...named, ...body }
}
