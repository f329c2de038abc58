// Which conversation a request belongs to. By the ids of its client; without any, by the longest known prefix of what was said.
// A wrong guess can store a conversation twice; it can never mix two tenants, because every look-up names the tenant.
import type { Asked } from '../dialects/dialect.ts'
import { chainOf, type Strictness } from './chain.ts'
import type { ClientIds } from './client-ids.ts'
import type { Heads } from './heads.ts'

export type Conversation = {
  readonly tenant: string
  /** Its id in the store of the tenant. */
  readonly session: string
  /** The session that it is a part of: of a sub-agent, or of what an agent asks aside. */
  readonly parent: string | undefined
  readonly strictness: Strictness
  /** A digest for each message of the request. */
  readonly chain: readonly string[]
  /** The session whose beginning it shares, if it goes on differently. */
  readonly forkedFrom: string | undefined
}

export type Identify = {
  readonly conversationOf: (call: IdentifiedCall) => Promise<Conversation>
  /** What was said up to this digest is stored. */
  readonly ended: (conversation: Conversation, digest: string) => Promise<void>
}

export type IdentifiedCall = { readonly tenant: string; readonly ids: ClientIds; readonly asked: Asked }

export function createIdentify(heads: Heads, newId: () => string): Identify {
  return {
    conversationOf: async ({ tenant, ids, asked }) => {
      const byIds = conversationByIds(tenant, ids, asked)
      return byIds ?? conversationBySaid(tenant, asked, { heads, newId })
    },
    ended: async ({ tenant, session, strictness }, digest) => {
      if (strictness === 'strict') await heads.put(tenant, digest, session)
    },
  }
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
  const found = { tenant, parent: undefined, strictness: 'strict', chain, forkedFrom: undefined } as const
  const last = chain.at(-1) ?? ''
  for (const digest of new Set(chain.toReversed())) {
    const head = digest === '' ? undefined : await heads.find(tenant, digest)
    if (!head) continue
    // The whole request is known, so it is sent again; or it says more at the end of its session.
    if (digest === last || head.isTip) return { ...found, session: head.session }
    return { ...found, session: newId(), forkedFrom: head.session }
  }
  return { ...found, session: newId() }
}

function firstSaid(chain: readonly string[]): string {
  return (chain.find((digest) => digest !== '') ?? 'nothing').slice(0, 12)
}
