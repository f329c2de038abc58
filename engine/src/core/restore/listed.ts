// Restores what the host or the transcript already holds as text: the todo list, background agents, tools, instructions of
// MCP servers, pinned messages, the host's own context, skills and slash commands.
import { groupBy } from '../message/group-by.ts'
import { type NotRestored, nothingRestored, type Piece } from '../ports/restore.ts'
import { recallPointer } from '../prompts/recall.ts'
import { markedHeadWithin } from '../text/cut.ts'
import { fitted, pinnedTitle, type RestoreInput, type Restorer, type Skill } from './restorer.ts'

export const restoreTodos: Restorer = {
  kind: 'todos',
  budget: 4_000,
  restore: async ({ state, countTokens }, room) => {
    if (state.todos.length === 0) return nothingRestored
    const lines = state.todos.map(({ id, text, status }) => `- [${status}] #${id} ${text}`)
    return fitted('todos', [{ title: 'To-do list', text: lines.join('\n') }], { room, countTokens })
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
    return fitted('agents', [{ title, text: lines.join('\n'), state: { agents: state.agents } }], { room, countTokens })
  },
}

/** Servers that were used come first, unused ones last, so those are dropped first. */
export const restoreTools: Restorer = {
  kind: 'tools',
  budget: 20_000,
  restore: async ({ state, countTokens }, room) => {
    const tools =
      state.deferredTools.length === 0
        ? []
        : [
            {
              title: 'Tools that can be loaded',
              text: toolLines(state.deferredTools).join('\n'),
              state: { deferredTools: true },
            },
          ]
    const servers = (isUsed: boolean) =>
      state.mcpInstructions
        .filter((server) => (server.isUsed === true) === isUsed)
        .map(({ name, text }) => ({ title: `Instructions of the MCP server ${name}`, text, state: { server: name } }))
    return fitted('tools', [...servers(true), ...tools, ...servers(false)], { room, countTokens })
  },
}

/** More tools of one server are counted: a page of names tells nobody which to load. */
const mostOfServer = 5

function toolLines(tools: readonly string[]): readonly string[] {
  const byServer = groupBy(tools, (tool) => /^mcp__.+?__/.exec(tool)?.[0] ?? '')
  return [...byServer].flatMap(([server, own]) =>
    server === '' || own.length <= mostOfServer ? own : [`${server}…: ${own.length} tools of this server`],
  )
}

const perPinned = 2_000

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
    return fitted('pinned', items, { room, countTokens })
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
    return fitted('host', items, { room, countTokens })
  },
}

/** A shorter part of a skill is no help. */
const leastPart = 200

/** The instructions being followed, whole. Earlier ones are finished: they are named, and can be invoked again. */
export const restoreSkills: Restorer = {
  kind: 'skills',
  budget: 25_000,
  restore: async ({ state, countTokens }, room) => {
    const pieces: Piece[] = []
    const notRestored: NotRestored[] = []
    let left = room
    for (const skill of state.skills) {
      const piece = skill.isRunning ? skillPiece(skill, countTokens, left) : undefined
      left -= piece?.tokens ?? 0
      const why = skill.isRunning ? 'there is no room for it' : 'invoke it again if it still applies'
      if (piece) pieces.push(piece)
      else notRestored.push({ kind: 'skills', what: titleOf(skill), why })
    }
    return { pieces, notRestored }
  },
}

function titleOf({ name, isRunning }: Skill): string {
  const what = name.startsWith('/') ? 'Command' : 'Skill'
  return `${what} ${name}, ${isRunning ? 'invoked recently' : 'invoked earlier'}`
}

function skillPiece(skill: Skill, countTokens: RestoreInput['countTokens'], room: number): Piece | undefined {
  const { name, path, text } = skill
  const title = `${titleOf(skill)}${path === undefined ? '' : ` (${path})`}`
  const marker = path === undefined ? '[cut: invoke the skill again for the rest]' : `[cut: the rest is in ${path}]`
  const tokens = room - countTokens(title) - 2
  if (tokens < leastPart && countTokens(text) > tokens) return undefined
  const cut = markedHeadWithin(text, { tokens, countTokens, marker })
  if (cut === '') return undefined
  const state = { skill: { name, ...(path === undefined ? {} : { path }) } }
  return { kind: 'skills', title, text: cut, tokens: countTokens(`${title}\n${cut}`), state }
}
