// A session of the OpenAI Agents SDK that stays small: after each turn, the compacted history replaces the stored one, in one
// transaction if the store has them. Everything else is left to the store.
import type { Session } from '@openai/agents'
import { withMethods } from '../with-methods.ts'
import type { AgentItem, AgentsParts } from './input-filter.ts'

export type AgentsSession = Session

/** Additional functions of some stores. */
type Rewriting = Session & {
  readonly applyHistoryTransaction?: (args: {
    operationId: string
    transaction: { type: 'replace_suffix'; expectedSuffix: AgentItem[]; replacement: AgentItem[] }
  }) => Promise<void> | void
}

export type CompactingSession<Store extends Session> = Store & {
  /** Called by the runner after it has stored a turn. Returns null: the engine's events report the tokens of summaries. */
  readonly runCompaction: () => Promise<null>
}

export type SessionPorts = AgentsParts & { readonly newId: () => string }

export function compactingSession<Store extends Session>(store: Store, ports: SessionPorts): CompactingSession<Store> {
  const runCompaction = async (): Promise<null> => {
    const items = await store.getItems()
    if (items.length === 0) return null
    const { groups, history } = await ports.conversation({ items, sessionId: await store.getSessionId() })
    const { messages, outcome } = await history.prepare(groups)
    const [first] = messages.filter(([item]) => !isInstruction(item))
    if (outcome.compaction || (first && !groups.includes(first)))
      await rewrite(store, { items, replacement: messages.flat(), ports })
    return null
  }
  return withMethods(store, { runCompaction })
}

function isInstruction(item: AgentItem | undefined): boolean {
  return item !== undefined && 'role' in item && item.role === 'system'
}

type Rewrite = { readonly items: AgentItem[]; readonly replacement: AgentItem[]; readonly ports: SessionPorts }

/** Without transactions the store is emptied and filled again; if filling fails, the old items are restored. */
async function rewrite(store: Rewriting, { items, replacement, ports }: Rewrite): Promise<void> {
  if (store.applyHistoryTransaction) {
    const transaction = { type: 'replace_suffix' as const, expectedSuffix: items, replacement }
    await store.applyHistoryTransaction({ operationId: ports.newId(), transaction })
    return
  }
  await store.clearSession()
  try {
    await store.addItems(replacement)
  } catch (error) {
    await store.clearSession()
    await store.addItems(items)
    throw error
  }
}
