// What a restorer gets and returns, and those of texts that the host or the transcript already holds: the todo list, background
// agents, tools, instructions of MCP servers, pinned messages, the host's own context, skills and slash commands. A restorer
// never fails a compaction: it names what it cannot restore.
import { defined, type JsonObject } from '../message/json.ts'
import { groupBy } from '../message/maps.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FileRead, FileStore, NotRestored, Restored, RestoredPiece } from '../ports/restore.ts'
import { recallPointer } from '../prompts/recall.ts'
import { markedHeadWithin } from '../text/cut.ts'
import type { PieceKind } from '../text/neutralize.ts'
import type { NamedKinds } from '../tools/call.ts'
import { type BackgroundAgent, pinnedTitle, type SessionState, type Skill } from './state-book.ts'
import type { TouchedFile } from './touched.ts'

export type RestoreInput = {
  readonly files: FileStore
  readonly countTokens: (text: string) => number
  /** Newest first. */
  readonly touched: readonly TouchedFile[]
  /** Messages that stay verbatim. Files that they show are not restored. */
  readonly kept: readonly ViewMessage[]
  readonly state: SessionState
  /** The folder of the workspace, to recognize two spellings of one path. */
  readonly root?: string | undefined
  readonly recordOf?: ((uuid: string) => JsonObject | undefined) | undefined
  /** The host's setting for what its tools do. */
  readonly named?: NamedKinds | undefined
  /** The next step, in the words of the summary and the user. Files named here come first. */
  readonly next?: string | undefined
  /** The path of the transcript, which is never restored. */
  readonly transcriptPath?: string | undefined
}

export type Restorer = {
  /** Also the heading of its pieces. */
  readonly kind: PieceKind
  /** Tokens for all of its pieces together. */
  readonly budget: number
  /** Restores no more than `room` tokens. */
  readonly restore: (input: RestoreInput, room: number) => Promise<Restored>
}

export type TitledText = Omit<RestoredPiece, 'kind' | 'tokens'>

/** The pieces that fit, in the given order. The others are listed as not restored. */
export function fitted(
  kind: string,
  items: readonly TitledText[],
  { room, countTokens }: { readonly room: number } & Pick<RestoreInput, 'countTokens'>,
): Restored {
  const pieces: RestoredPiece[] = []
  const notRestored: NotRestored[] = []
  let left = room
  for (const item of items) {
    const tokens = countTokens(`${item.title}\n${item.text}`)
    if (tokens <= left) {
      pieces.push({ kind, ...item, tokens })
      left -= tokens
    } else
      notRestored.push({ kind, what: item.path ?? item.title, why: `it has ${tokens} tokens, and ${left} are left` })
  }
  return { pieces, notRestored }
}

export function whyUnread(read: Exclude<FileRead, { readonly type: 'text' }>): string {
  if (read.type === 'refused') return read.why
  return read.type === 'missing' ? 'not there any more' : `it is binary (${read.bytes} bytes)`
}

/** A restorer for texts that need no I/O. */
function restorerOf(
  kind: Restorer['kind'],
  budget: number,
  itemsOf: (input: RestoreInput) => readonly TitledText[],
): Restorer {
  return {
    kind,
    budget,
    restore: async (input, room) => fitted(kind, itemsOf(input), { room, countTokens: input.countTokens }),
  }
}

function titledLines(title: string, lines: readonly string[], state?: JsonObject): readonly TitledText[] {
  return lines.length === 0 ? [] : [{ title, text: lines.join('\n'), ...defined({ state }) }]
}

export const restoreTodos = restorerOf('todos', 4_000, ({ state: { todos } }) =>
  titledLines(
    'To-do list',
    todos.map(({ id, text, status }) => `- [${status}] #${id} ${text}`),
  ),
)

const agentStates = {
  running: 'running',
  'finished-unreported': 'finished, its report not read yet',
  finished: 'finished',
}

/** Running agents first, then the latest finished ones. If not all fit, the oldest finished ones are dropped. */
export const restoreAgents: Restorer = {
  kind: 'agents',
  budget: 4_000,
  restore: async ({ state: { agents }, countTokens }, room) => {
    const isFinished = ({ state }: BackgroundAgent) => state === 'finished'
    const ordered = [...agents.filter((agent) => !isFinished(agent)), ...agents.filter(isFinished).toReversed()]
    const pieceOf = (count: number) =>
      titledLines('Background agents: do not start these again', ordered.slice(0, count).map(agentLine), {
        agents: ordered.slice(0, count),
      })
    let count = ordered.length
    while (count > 0 && pieceOf(count).some(({ title, text }) => countTokens(`${title}\n${text}`) > room)) count--
    const { pieces } = fitted('agents', pieceOf(count), { room, countTokens })
    const why = 'there is no room for it'
    return { pieces, notRestored: ordered.slice(count).map(({ id }) => ({ kind: 'agents', what: `agent ${id}`, why })) }
  },
}

function agentLine({ id, type, state, description, result }: BackgroundAgent): string {
  return `- ${id} (${type}), ${agentStates[state]}: ${description}${result === undefined ? '' : `. Result: ${result}`}`
}

/** Used servers first, so that unused ones are dropped first. */
export const restoreTools = restorerOf('tools', 20_000, ({ state: { deferredTools, mcpInstructions } }) => {
  const servers = (isUsed: boolean) =>
    mcpInstructions
      .filter((server) => (server.isUsed === true) === isUsed)
      .map(({ name, text }) => ({ title: `Instructions of the MCP server ${name}`, text, state: { server: name } }))
  const tools = titledLines('Tools that can be loaded', toolLines(deferredTools), { deferredTools: true })
  return [...servers(true), ...tools, ...servers(false)]
})

/** Further tools of a server are only counted, because a page of names does not say which one to load. */
const maxOfServer = 5

function toolLines(tools: readonly string[]): readonly string[] {
  const byServer = groupBy(tools, (tool) => /^mcp__.+?__/.exec(tool)?.[0] ?? '')
  return [...byServer].flatMap(([server, own]) =>
    server === '' || own.length <= maxOfServer ? own : [`${server}…: ${own.length} tools of this server`],
  )
}

const perPinned = 2_000

export const restorePinned = restorerOf('pinned', 10_000, ({ state, countTokens }) =>
  state.pinned.map(({ uuid, text }) => {
    const marker = `[cut: the rest is at ${recallPointer(uuid)}]`
    const head = markedHeadWithin(text, { tokens: perPinned, countTokens, marker })
    return { title: pinnedTitle, entry: uuid, text: head }
  }),
)

export const restoreHost = restorerOf('host', 10_000, ({ state, countTokens }) =>
  state.host.map(({ title, text, budget }) => ({
    title,
    text: markedHeadWithin(text, { tokens: budget, countTokens, marker: '[cut to its budget]' }),
  })),
)

/** A shorter part of a skill does not help. */
const minPart = 200

const perSkill = 5_000
const skillBudget = 25_000

/** The skills in use. */
export const restoreSkills: Restorer = {
  kind: 'skills',
  budget: skillBudget,
  restore: async ({ state: { skills }, countTokens }, room) => skillsWithin(skills.filter(isInUse), countTokens, room),
}

/** Skills invoked earlier, in the rest of the budget of the skills in use. They come after the files in use. */
export const restoreEarlierSkills: Restorer = {
  kind: 'skills',
  budget: skillBudget,
  restore: async ({ state: { skills }, countTokens }, room) => {
    const { pieces } = skillsWithin(skills.filter(isInUse), countTokens, skillBudget)
    const used = pieces.reduce((sum, { tokens }) => sum + tokens, 0)
    const earlier = skills.filter((skill) => !isInUse(skill))
    return skillsWithin(earlier, countTokens, Math.min(room, skillBudget - used))
  },
}

function isInUse({ isRunning }: Skill): boolean {
  return isRunning === true
}

/** Latest first. Each gets its head; one that does not fit at all is listed by name. */
function skillsWithin(skills: readonly Skill[], countTokens: RestoreInput['countTokens'], room: number): Restored {
  const pieces: RestoredPiece[] = []
  const notRestored: NotRestored[] = []
  let left = room
  for (const skill of skills) {
    const piece = skillPiece(skill, countTokens, Math.min(perSkill, left))
    left -= piece?.tokens ?? 0
    const why = 'there is no room for it: invoke it again if it still applies'
    if (piece) pieces.push(piece)
    else notRestored.push({ kind: 'skills', what: titleOf(skill), why })
  }
  return { pieces, notRestored }
}

function titleOf({ name, isRunning }: Skill): string {
  const what = name.startsWith('/') ? 'Command' : 'Skill'
  return `${what} ${name}, ${isRunning ? 'invoked recently' : 'invoked earlier'}`
}

function skillPiece(skill: Skill, countTokens: RestoreInput['countTokens'], room: number): RestoredPiece | undefined {
  const { name, path, text } = skill
  const title = `${titleOf(skill)}${path === undefined ? '' : ` (${path})`}`
  const marker = path === undefined ? '[cut: invoke the skill again for the rest]' : `[cut: the rest is in ${path}]`
  const tokens = room - countTokens(title) - 2
  if (tokens < minPart && countTokens(text) > tokens) return undefined
  const cut = markedHeadWithin(text, { tokens, countTokens, marker })
  if (cut === '') return undefined
  const state = { skill: { name, ...(path === undefined ? {} : { path }), isRunning: isInUse(skill) } }
  return { kind: 'skills', title, text: cut, tokens: countTokens(`${title}\n${cut}`), state }
}
