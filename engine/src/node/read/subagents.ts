// The sub-agents of a session, in all places that clients use: inside the transcript, next to it, or in the session's folder.
// Also the large tool results stored as files.
import { readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import { blocksOf, isToolResult, isToolUse, textOf } from '../../core/message/message.ts'
import { filesIn, isAgentFile, resultsFolder, sessionFolder } from '../session/session-folder.ts'
import { forEachEntry } from './entries.ts'

export type SubAgent = {
  /** The agent's id; the uuid of its first entry if it has none. */
  readonly id: string
  readonly place: 'inside' | 'beside' | 'folder'
  readonly kind: 'agent' | 'compaction'
  readonly path: string
  readonly entries: number
  readonly agentType: string | undefined
  readonly description: string | undefined
  readonly toolUseId: string | undefined
}

export type SubAgents = {
  readonly agents: readonly SubAgent[]
  /** Paths of large results, by tool use id. */
  readonly toolResults: ReadonlyMap<string, string>
}

export function findSubagents(path: string): SubAgents {
  const main = readMain(path)
  // The neighbors of a sub-agent's file are its siblings.
  const beside = isAgentFile(path) ? [] : filesIn(dirname(path)).filter(isAgentFile)
  const inFolder = filesIn(join(sessionFolder(path), 'subagents')).filter(isAgentFile)
  const outside = [
    ...beside.map((file) => readAgentFile(file, 'beside')).filter(({ sessionId }) => main.sessionIds.has(sessionId)),
    ...inFolder.filter((file) => file !== path).map((file) => readAgentFile(file, 'folder')),
  ].map(({ agent }) => ({ ...agent, toolUseId: main.callsByAgent.get(agent.id) }))
  const results = filesIn(resultsFolder(path)).map((file) => [basename(file, extname(file)), file] as const)
  return { agents: [...insideAgents(path, main), ...outside], toolResults: new Map(results) }
}

type Call = { readonly id: string; readonly description: string | undefined; readonly agentType: string | undefined }
type Chain = { readonly root: string; readonly prompt: string; entries: number }

type Main = {
  readonly sessionIds: Set<string | undefined>
  readonly callsByAgent: Map<string, string>
  /** By the prompt given to the agent. */
  readonly calls: Map<string, Call>
  readonly chains: Map<string, Chain>
}

function readMain(path: string): Main {
  const main: Main = { sessionIds: new Set(), callsByAgent: new Map(), calls: new Map(), chains: new Map() }
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

function noteCalls(record: JsonObject, main: Main): void {
  for (const block of blocksOf(objectAt(record, 'message')?.content)) {
    const prompt = isToolUse(block) ? stringAt(block.input, 'prompt') : undefined
    if (isToolUse(block) && prompt !== undefined) {
      const [description, agentType] = [stringAt(block.input, 'description'), stringAt(block.input, 'subagent_type')]
      main.calls.set(prompt, { id: block.id, description, agentType })
    }
    const agentId = stringAt(record.toolUseResult, 'agentId')
    if (isToolResult(block) && agentId !== undefined) main.callsByAgent.set(agentId, block.tool_use_id)
  }
}

function insideAgents(path: string, { chains, calls }: Main): readonly SubAgent[] {
  return [...chains.values()].map(({ root, prompt, entries }) => {
    const call = calls.get(prompt)
    const about = { agentType: call?.agentType, description: call?.description, toolUseId: call?.id }
    return { id: root, place: 'inside', kind: 'agent', path, entries, ...about }
  })
}

function readAgentFile(path: string, place: SubAgent['place']) {
  const id = basename(path, '.jsonl').slice('agent-'.length)
  let sessionId: string | undefined
  let entries = 0
  forEachEntry(path, ({ record }) => {
    sessionId ??= stringAt(record, 'sessionId')
    if (typeof record.uuid === 'string') entries++
  })
  const meta = readMeta(path.replace(/\.jsonl$/, '.meta.json'))
  const kind: SubAgent['kind'] = id.startsWith('acompact-') ? 'compaction' : 'agent'
  const about = { agentType: stringAt(meta, 'agentType'), description: stringAt(meta, 'description') }
  return { sessionId, agent: { id, place, kind, path, entries, ...about } }
}

function readMeta(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // Older clients write none.
  }
}
