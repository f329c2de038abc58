// The sub-agents of a session, wherever its client put them: inside the file, beside it, or in its folder. Also the
// large tool results that were written to files of their own.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { blocksOf, isToolResult, isToolUse, textOf } from '../../core/message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import { resultsFolder, sessionFolder } from '../session/session-folder.ts'
import { forEachEntry } from './entries.ts'

export type SubAgent = {
  /** The agent's id, or the uuid of its first entry where it has none. */
  readonly id: string
  readonly place: 'inside' | 'beside' | 'folder'
  readonly kind: 'agent' | 'compaction'
  readonly path: string
  readonly entries: number
  readonly agentType: string | undefined
  readonly description: string | undefined
  /** The tool call that started it, where it can be found. */
  readonly toolUseId: string | undefined
}

export type SubAgents = {
  readonly agents: readonly SubAgent[]
  /** Large results stored apart, by tool use id. */
  readonly toolResults: ReadonlyMap<string, string>
}

export function findSubagents(path: string): SubAgents {
  const main = readMain(path)
  const folder = sessionFolder(path)
  const files = [
    // The files beside a sub-agent's own are its siblings.
    ...(isAgentFile(basename(path)) ? [] : agentFiles(dirname(path))).map((file) => ({
      file,
      place: 'beside' as const,
    })),
    ...agentFiles(join(folder, 'subagents')).map((file) => ({ file, place: 'folder' as const })),
  ].filter(({ file }) => file !== path)
  const outside = files.flatMap(({ file, place }) => {
    const agent = readAgentFile(file)
    const isOurs = place === 'folder' || (agent.sessionId !== undefined && main.sessionIds.has(agent.sessionId))
    return isOurs ? [{ ...agent.found, place, toolUseId: main.byAgentId.get(agent.found.id) }] : []
  })
  return { agents: [...insideAgents(path, main), ...outside], toolResults: resultFiles(resultsFolder(path)) }
}

type Call = { readonly id: string; readonly description: string | undefined; readonly agentType: string | undefined }
type Chain = { readonly root: string; readonly prompt: string; entries: number }

type Main = {
  readonly sessionIds: Set<string>
  readonly byAgentId: Map<string, string>
  readonly calls: Map<string, Call>
  readonly chains: Map<string, Chain>
}

function readMain(path: string): Main {
  const main: Main = { sessionIds: new Set(), byAgentId: new Map(), calls: new Map(), chains: new Map() }
  const chainOf = new Map<string, Chain>()
  forEachEntry(path, ({ record }) => {
    if (typeof record.sessionId === 'string') main.sessionIds.add(record.sessionId)
    if (record.isSidechain === true && record.agentId === undefined) addToChain(record, main, chainOf)
    else noteCalls(record, main)
  })
  return main
}

function addToChain(record: JsonObject, main: Main, chainOf: Map<string, Chain>): void {
  const uuid = stringAt(record, 'uuid')
  if (uuid === undefined) return
  let chain = chainOf.get(stringAt(record, 'parentUuid') ?? '')
  if (!chain) {
    chain = { root: uuid, prompt: textOf(objectAt(record, 'message')?.content), entries: 0 }
    main.chains.set(uuid, chain)
  }
  chain.entries++
  chainOf.set(uuid, chain)
}

/** Calls that start agents, by their prompt, and which agent answered which call. */
function noteCalls(record: JsonObject, main: Main): void {
  for (const block of blocksOf(objectAt(record, 'message')?.content)) {
    const prompt = isToolUse(block) ? stringAt(block.input, 'prompt') : undefined
    if (isToolUse(block) && prompt !== undefined) {
      const call = {
        description: stringAt(block.input, 'description'),
        agentType: stringAt(block.input, 'subagent_type'),
      }
      main.calls.set(prompt, { id: block.id, ...call })
    }
    const agentId = stringAt(record.toolUseResult, 'agentId')
    if (isToolResult(block) && agentId !== undefined) main.byAgentId.set(agentId, block.tool_use_id)
  }
}

function insideAgents(path: string, { chains, calls }: Main): readonly SubAgent[] {
  return [...chains.values()].map(({ root, prompt, entries }) => {
    const call = calls.get(prompt)
    const about = { agentType: call?.agentType, description: call?.description, toolUseId: call?.id }
    return { id: root, place: 'inside', kind: 'agent', path, entries, ...about }
  })
}

function agentFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter(isAgentFile)
  return names.toSorted().map((name) => join(folder, name))
}

function isAgentFile(name: string): boolean {
  return name.startsWith('agent-') && name.endsWith('.jsonl')
}

function readAgentFile(path: string): {
  readonly sessionId: string | undefined
  readonly found: Omit<SubAgent, 'place' | 'toolUseId'>
} {
  const id = basename(path, '.jsonl').slice('agent-'.length)
  let sessionId: string | undefined
  let entries = 0
  forEachEntry(path, ({ record }) => {
    sessionId ??= stringAt(record, 'sessionId')
    if (typeof record.uuid === 'string') entries++
  })
  const meta = readMeta(path.replace(/\.jsonl$/, '.meta.json'))
  const kind = id.startsWith('acompact-') ? 'compaction' : 'agent'
  const about = { agentType: stringAt(meta, 'agentType'), description: stringAt(meta, 'description') }
  return { sessionId, found: { id, kind, path, entries, ...about } }
}

function readMeta(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // Older clients wrote none; a broken one says nothing.
  }
}

function resultFiles(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile())
  return new Map(files.map((name) => [basename(name, extname(name)), join(folder, name)]))
}

/** Where a sub-agent of a session writes: in the session's folder, as clients since 2.1.2 do. */
export function subagentPath(session: string, agentId: string): string {
  return join(dirname(session), basename(session, extname(session)), 'subagents', `agent-${agentId}.jsonl`)
}
