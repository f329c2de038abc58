// Finds the conversation of a request: by the ids of its client, otherwise by the longest known prefix of its content. A wrong
// guess can store a conversation twice, but it can never mix two tenants, because every lookup names the tenant.
import type { Asked } from '../dialects/dialect.ts'
import { chainOf, type Strictness } from './chain.ts'
import type { ClientIds } from './client-ids.ts'
import type { Heads, Place } from './heads.ts'

export type Conversation = {
  readonly tenant: string
  /** Its id in the store of the tenant. */
  readonly session: string
  /** The session that it is part of, for a sub-agent or a side request of an agent. */
  readonly parent: string | undefined
  readonly strictness: Strictness
  /** A digest per message of the request. */
  readonly chain: readonly string[]
  /** The session with the same beginning, if it continues differently. */
  readonly forkedFrom: string | undefined
}

export type Identify = {
  readonly conversationOf: (call: IdentifiedCall) => Promise<Conversation>
  /** Everything up to this digest is stored. */
  readonly ended: (conversation: Conversation, digest: string) => Promise<void>
}

export type IdentifiedCall = { readonly tenant: string; readonly ids: ClientIds; readonly asked: Asked }

export function createIdentify(heads: Heads, newId: () => string): Identify {
  return {
    conversationOf: async ({ tenant, ids, asked }) => {
      const byIds = conversationByIds(tenant, ids, asked)
      return byIds ?? conversationBySaid(tenant, asked, { heads, newId })
    },
    ended: async ({ tenant, session, strictness, chain }, digest) => {
      if (strictness !== 'strict' || digest === '') return
      const places = placesOf(chain)
      const known = places.find((place) => place.digest === digest)
      await heads.answered(tenant, session, known ?? { digest, depth: places.length + 1 })
    },
  }
}

/** Each digest once, with the number of non-empty messages up to it. */
function placesOf(chain: readonly string[]): readonly Place[] {
  return [...new Set(chain)].filter((digest) => digest !== '').map((digest, at) => ({ digest, depth: at + 1 }))
}

function conversationByIds(
  tenant: string,
  { session, agent, asksAside }: ClientIds,
  asked: Asked,
): Conversation | undefined {
  if (session === undefined) return undefined
  const chain = chainOf(asked.messages, 'loose')
  const part = agent ?? (asksAside ? `aside-${firstSaid(chain)}` : undefined)
  const place =
    part === undefined
      ? { session, parent: undefined }
      : { session: `${session}/subagents/agent-${part}`, parent: session }
  return { tenant, ...place, strictness: 'loose', chain, forkedFrom: undefined }
}

async function conversationBySaid(
  tenant: string,
  asked: Asked,
  { heads, newId }: { readonly heads: Heads; readonly newId: () => string },
): Promise<Conversation> {
  const chain = chainOf(asked.messages, 'strict')
  const places = placesOf(chain)
  const isSilent = places.length === 0
  const { session, forkedFrom } = isSilent
    ? { session: newId(), forkedFrom: undefined }
    : await heads.claim({ tenant, places, newId })
  return { tenant, session, forkedFrom, parent: undefined, strictness: 'strict', chain }
}

function firstSaid(chain: readonly string[]): string {
  return (chain.find((digest) => digest !== '') ?? 'nothing').slice(0, 12)
}
