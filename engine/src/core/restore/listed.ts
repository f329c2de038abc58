// Restorers of what the host or the transcript already holds as text: the to-do list, background agents, tools,
// instructions of MCP servers, pinned messages, the host's own context. Each stays inside its budget and names what is
// left out.
import type { JsonObject } from '../message/json.ts'
import { type NotRestored, nothingRestored, type Piece, type Restored } from '../ports/restore.ts'
import { recallPointer } from '../prompts/recall.ts'
import { markedHeadWithin } from '../text/cut.ts'
import type { Restorer } from './restorer.ts'

type Count = (text: string) => number
type Titled = {
  readonly title: string
  readonly text: string
  readonly entry?: string
  readonly state?: JsonObject
}

/** As many as fit, in the order given. */
function within(
  kind: string,
  items: readonly Titled[],
  { room, countTokens }: { readonly room: number; readonly countTokens: Count },
): Restored {
  const pieces: Piece[] = []
  const notRestored: NotRestored[] = []
  let left = room
  for (const { title, text, ...more } of items) {
    const tokens = countTokens(`${title}\n${text}`)
    if (tokens <= left) {
      pieces.push({ kind, title, text, tokens, ...more })
      left -= tokens
    } else notRestored.push({ kind, what: title, why: `it has ${tokens} tokens, and ${left} are left` })
  }
  return { pieces, notRestored }
}

export const restoreTodos: Restorer = {
  kind: 'todos',
  budget: 4_000,
  restore: async ({ state, countTokens }, room) => {
    if (state.todos.length === 0) return nothingRestored
    const lines = state.todos.map(({ id, text, status }) => `- [${status}] #${id} ${text}`)
    return within('todos', [{ title: 'To-do list', text: lines.join('\n') }], { room, countTokens })
  },
}

export const restoreAgents: Restorer = {
  kind: 'agents',
  budget: 4_000,
  restore: async ({ state, countTokens }, room) => {
    if (state.agents.length === 0) return nothingRestored
    const words = { running: 'running', 'finished-unreported': 'finished, its report not read yet' }
    const lines = state.agents.map(
      (agent) => `- ${agent.id} (${agent.type}), ${words[agent.state]}: ${agent.description}`,
    )
    const title = 'Background agents: do not start these again'
    return within('agents', [{ title, text: lines.join('\n'), state: { agents: state.agents } }], { room, countTokens })
  },
}

/** What was used comes first; what nobody used in this session comes last, and is the first to be left out. */
export const restoreTools: Restorer = {
  kind: 'tools',
  budget: 20_000,
  restore: async ({ state, countTokens }, room) => {
    const tools =
      state.deferredTools.length === 0
        ? []
        : [{ title: 'Tools that can be loaded', text: state.deferredTools.join('\n'), state: { deferredTools: true } }]
    const servers = (isUsed: boolean) =>
      state.mcpInstructions
        .filter((server) => (server.isUsed === true) === isUsed)
        .map(({ name, text }) => ({ title: `Instructions of the MCP server ${name}`, text, state: { server: name } }))
    return within('tools', [...servers(true), ...tools, ...servers(false)], { room, countTokens })
  },
}

const perPinned = 2_000
export const pinnedTitle = 'Pinned message'

export const restorePinned: Restorer = {
  kind: 'pinned',
  budget: 10_000,
  restore: async ({ state, countTokens }, room) => {
    const items = state.pinned.map(({ uuid, text }) => {
      const marker = `[cut: the rest is at ${recallPointer(uuid)}]`
      return {
        title: pinnedTitle,
        entry: uuid,
        text: markedHeadWithin(text, { tokens: perPinned, countTokens, marker }),
      }
    })
    return within('pinned', items, { room, countTokens })
  },
}

export const restoreHost: Restorer = {
  kind: 'host',
  budget: 10_000,
  restore: async ({ state, countTokens }, room) => {
    const items = state.host.map(({ title, text, budget }) => ({
      title,
      text: markedHeadWithin(text, { tokens: budget, countTokens, marker: '[cut to its budget]' }),
    }))
    return within('host', items, { room, countTokens })
  },
}
