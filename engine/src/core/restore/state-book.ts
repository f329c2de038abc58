// A session's state, read from Claude Code records: plan, skills and commands, background agents, announced tools, rule files,
// and the context that an earlier compaction of ours restored. The ledger has the todo list, the view has the pins.

import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../message/json.ts'
import { dropOldest } from '../message/maps.ts'
import {
  blocksOf,
  isRequest,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  textOf,
  type ViewMessage,
} from '../message/message.ts'
import { pathsOf, type Todo, type ToolCall, toolCall } from '../tools/call.ts'

/** The title of a restored copy of a pinned message. */
export const pinnedTitle = 'Pinned message'

/** A skill or, if its name starts with a slash, a slash command. */
export type Skill = {
  readonly name: string
  readonly path?: string
  readonly text: string
  /** Invoked recently, so it is probably still in use. */
  readonly isRunning?: boolean
}

export type BackgroundAgent = {
  readonly id: string
  readonly type: string
  readonly description: string
  readonly state: 'running' | 'finished-unreported' | 'finished'
  /** The first line of a finished agent's report. */
  readonly result?: string
}

/** What the host knows about its session besides the conversation. A compaction must not lose it. */
export type SessionState = {
  /** Only for a list of the host's own. The summary has the conversation's list. */
  readonly todos: readonly Todo[]
  readonly plan?: {
    readonly path?: string
    readonly text?: string
    readonly isOn: boolean
    /** How many times the user has spoken since the plan last changed. */
    readonly requestsSince?: number
  }
  /** Invoked in this session, latest first. */
  readonly skills: readonly Skill[]
  /** Running, not yet reported, or finished since the last compaction. */
  readonly agents: readonly BackgroundAgent[]
  /** Deferred tools by their announced names. */
  readonly deferredTools: readonly string[]
  readonly mcpInstructions: readonly {
    readonly name: string
    readonly text: string
    /** One of its tools was called in this session. */
    readonly isUsed?: boolean
  }[]
  /** Paths of rule files for touched folders: AGENTS.md, CLAUDE.md and similar. Read again from the store. */
  readonly memoryFiles: readonly string[]
  /** Other context of the host: an editor's selection, open files. */
  readonly host: readonly { readonly title: string; readonly text: string; readonly budget: number }[]
  /** Pinned messages that the compaction removes from the view. */
  readonly pinned: readonly { readonly uuid: string; readonly text: string }[]
}

export const emptyState: SessionState = {
  todos: [],
  skills: [],
  agents: [],
  deferredTools: [],
  mcpInstructions: [],
  memoryFiles: [],
  host: [],
  pinned: [],
}

export type StateBook = {
  /** Takes messages in the order of the transcript. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  readonly state: () => SessionState
}

const maxCalls = 256
/** A shorter result on one line only says that the skill starts. */
const minSkill = 120
/** A skill counts as running for this many messages of the user. */
const maxRequests = 3

export function createStateBook(): StateBook {
  return new Book()
}

type PlanNews = { readonly path?: string | undefined; readonly text?: string | undefined; readonly isOn?: boolean }

class Book implements StateBook {
  /** Each skill with the number of requests before it was invoked. The latest comes last. */
  private readonly skills = new Map<string, { readonly skill: Skill; readonly requests: number }>()
  private readonly agents = new Map<string, BackgroundAgent>()
  private readonly tools = new Map<string, string>()
  private readonly mcp = new Map<string, string>()
  /** Servers with at least one tool call. */
  private readonly servers = new Set<string>()
  private readonly memoryFiles = new Set<string>()
  /** Calls that have no result yet or loaded a skill. */
  private readonly calls = new Map<string, ToolCall>()
  private requests = 0
  /** The slash command of the previous message. */
  private command: string | undefined
  private plan: SessionState['plan']
  /** Number of requests before the plan last changed. */
  private planRequests = 0

  add(message: ViewMessage, record?: JsonObject): void {
    const attachment = objectAt(record, 'attachment')
    if (attachment?.isRestored === true) this.noteRestored(attachment)
    else if (attachment) this.noteAttachment(attachment)
    if (message.origin === 'summary') this.noteCompaction()
    this.noteReport(message)
    this.noteText(message, record)
    this.noteMode(record)
    for (const block of blocksOf(message.content)) {
      if (isToolUse(block)) this.noteCall(block.id, toolCall(block))
      if (isToolResult(block)) this.noteResult(block, objectAt(record, 'toolUseResult'))
    }
    dropOldest(this.calls, maxCalls)
  }

  state(): SessionState {
    const requestsSince = this.requests - this.planRequests
    return {
      ...emptyState,
      ...(this.plan ? { plan: { ...this.plan, ...(requestsSince > 0 ? { requestsSince } : {}) } } : {}),
      skills: this.skillsNow(),
      agents: [...this.agents.values()],
      deferredTools: [...this.tools.values()],
      mcpInstructions: [...this.mcp].map(([name, text]) => ({ name, text, isUsed: this.servers.has(serverKey(name)) })),
      memoryFiles: [...this.memoryFiles],
    }
  }

  /** Latest first. A command may have invoked a skill, and then both are running. Those of a later request replace them. */
  private skillsNow(): readonly Skill[] {
    const all = [...this.skills.values()]
    const latest = Math.max(...all.map(({ requests }) => requests))
    const isRunning = (then: number) => then === latest && this.requests - then < maxRequests
    return all.toReversed().map(({ skill, requests }) => (isRunning(requests) ? { ...skill, isRunning: true } : skill))
  }

  private noteAttachment(attachment: JsonObject): void {
    const path = stringAt(attachment, 'planFilePath')
    switch (attachment.type) {
      case 'invoked_skills':
        for (const [at, skill] of [...arrayAt(attachment, 'skills').filter(isObject).entries()].toReversed()) {
          this.noteSkill(skill, { isOld: at > 0 })
        }
        break
      case 'deferred_tools_delta':
        changeNames(this.tools, attachment, stringsAt(attachment, 'addedLines'))
        break
      case 'mcp_instructions_delta':
        changeNames(this.mcp, attachment, stringsAt(attachment, 'addedBlocks'))
        break
      case 'nested_memory':
        this.memoryFiles.add(stringAt(attachment, 'path') ?? '').delete('')
        break
      case 'plan_mode':
      case 'plan_mode_reentry':
        this.notePlan({ path, isOn: true })
        break
      case 'plan_mode_exit':
        this.notePlan({ path, isOn: false })
        break
      case 'plan_file_reference':
        this.notePlan({ path, text: stringAt(attachment, 'planContent') })
    }
  }

  /** `isOld`: listed after a later one, so it is unknown when it was invoked. */
  private noteSkill(skill: JsonObject, { isOld = false } = {}): void {
    const [name, text, path] = ['name', 'content', 'path'].map((key) => stringAt(skill, key))
    if (name === undefined || text === undefined) return
    this.skills.delete(name)
    this.skills.set(name, {
      skill: { name, text, ...(path === undefined ? {} : { path }) },
      requests: isOld ? Number.NEGATIVE_INFINITY : this.requests,
    })
  }

  /** Some agents return the text of a skill as the result; others only report that it starts and send the text later. */
  private noteLoaded(name: string | undefined, content: string): void {
    const isText = content.length >= minSkill || content.trim().includes('\n')
    if (name !== undefined && isText) this.noteSkill({ name, content })
  }

  /** Fields that are absent keep their values, but another plan file drops the old text. */
  private notePlan({ path, text, isOn }: PlanNews): void {
    const before = this.plan
    const isOther = path !== undefined && before?.path !== undefined && before.path !== path
    this.plan = {
      ...(isOther ? {} : before),
      ...(path === undefined ? {} : { path }),
      ...(text === undefined ? {} : { text }),
      isOn: isOn ?? before?.isOn ?? false,
    }
    const isSame = (['path', 'text', 'isOn'] as const).every((key) => before?.[key] === this.plan?.[key])
    if (!isSame) this.planRequests = this.requests
  }

  /** The client records its mode with each request. */
  private noteMode(record: JsonObject | undefined): void {
    const mode = stringAt(record, 'permissionMode')
    if (mode === 'plan') this.notePlan({ isOn: true })
    else if (mode !== undefined && this.plan?.isOn) this.notePlan({ isOn: false })
    const text = stringAt(record, 'planContent')
    if (text !== undefined) this.notePlan({ text, isOn: false })
  }

  private noteText(message: ViewMessage, record: JsonObject | undefined): void {
    if (message.origin === 'assistant') this.command = undefined
    const isMeta = message.origin === 'meta'
    if (!isMeta && !isRequest(message.origin)) return
    const text = textOf(message.content)
    // The text of a skill is in a meta message that names the call; the text of a command follows the command.
    const call = this.calls.get(stringAt(record, 'sourceToolUseID') ?? '')
    const skill = call?.type === 'skill' ? call.skill : undefined
    const name = skill ?? (isMeta && !text.startsWith('<') ? this.command : undefined)
    if (name !== undefined && text !== '') this.noteSkill({ name, content: text })
    this.command = /<command-name>\s*(\/[^<\s]+)\s*<\/command-name>/.exec(text.slice(0, 2_000))?.[1]
    if (isRequest(message.origin)) this.requests++
  }

  /** A summary covers agents that finished before it, so they are dropped. */
  private noteCompaction(): void {
    for (const [id, { state }] of this.agents) if (state === 'finished') this.agents.delete(id)
  }

  /** A background agent that has reported is finished. The report may have been queued while the agent worked. */
  private noteReport(message: ViewMessage): void {
    if (message.origin === 'assistant' || message.origin === 'tool-result') return
    const text = textOf(message.content)
    const [, id = ''] = /^\s*<task-notification>[\s\S]{0,2000}?<task-id>\s*([\w-]+)\s*<\/task-id>/.exec(text) ?? []
    const agent = this.agents.get(id)
    if (!agent) return
    const [, status = 'completed'] = /<status>\s*(\w{1,40})\s*<\/status>/.exec(text) ?? []
    const [, said = ''] = /<result>\s*([^\n<]{1,240})/.exec(text) ?? []
    const result = [status === 'completed' ? '' : status, said.trim()].filter((part) => part !== '').join(': ')
    this.agents.delete(id) // Inserted again, so that the latest comes last.
    this.agents.set(id, { ...agent, state: 'finished', ...(result === '' ? {} : { result }) })
  }

  private noteCall(id: string, call: ToolCall): void {
    this.calls.set(id, call)
    const [prefix, server] = call.name.split('__')
    if (prefix === 'mcp' && server !== undefined) this.servers.add(serverKey(server))
  }

  private noteResult(result: ToolResultBlock, raw: JsonObject | undefined): void {
    const call = this.calls.get(result.tool_use_id)
    if (!call) return
    const isError = result.is_error === true
    if (call.type === 'plan' && call.act === 'exit') {
      // A rejected plan stays the plan, and plan mode stays on.
      const isRejected = isError || refusal.test(textOf(result.content).slice(0, 500))
      const text = stringAt(raw, 'plan') ?? call.text
      this.notePlan({ path: stringAt(raw, 'filePath'), text, ...(isRejected ? {} : { isOn: false }) })
    }
    if (isError) return
    if (call.type === 'plan' && call.act === 'enter') this.notePlan({ isOn: true })
    if (call.type === 'skill') this.noteLoaded(call.skill, textOf(result.content))
    // Any action on the plan's file except reading may have changed the plan.
    const { path } = this.plan ?? {}
    if (path !== undefined && call.type !== 'read' && pathsOf(call).includes(path)) this.planRequests = this.requests
    const id = stringAt(raw, 'agentId')
    if (id === undefined) return
    const description = stringAt(raw, 'description') ?? ''
    if (raw?.isAsync === true) this.agents.set(id, { id, type: 'agent', description, state: 'running' })
    else this.agents.delete(id)
  }

  /**
   * Context that an earlier compaction of ours restored. When a session is opened again, earlier records are not read. State from
   * the records themselves is better and stays.
   */
  private noteRestored(attachment: JsonObject): void {
    const state = objectAt(attachment, 'state')
    const content = stringAt(attachment, 'content') ?? ''
    const text = content.slice(content.indexOf('\n') + 1)
    const plan = objectAt(state, 'plan')
    if (plan && !this.plan) {
      const path = stringAt(plan, 'path')
      const known = { ...(path === undefined ? {} : { path }), ...(plan.hasText === true ? { text } : {}) }
      this.plan = { ...known, isOn: plan.isOn === true }
      this.planRequests = this.requests - (numberAt(plan, 'requestsSince') ?? 0)
    }
    const skill = objectAt(state, 'skill')
    if (skill && !this.skills.has(stringAt(skill, 'name') ?? '')) {
      // The context lists them latest first.
      const later = [...this.skills]
      this.skills.clear()
      this.noteSkill({ ...skill, content: text }, { isOld: !(skill.isRunning ?? later.length === 0) })
      for (const [name, known] of later) this.skills.set(name, known)
    }
    for (const agent of arrayAt(state, 'agents').filter(isObject)) {
      const [id, type = 'agent', description = ''] = ['id', 'type', 'description'].map((key) => stringAt(agent, key))
      const is = agent.state === 'finished-unreported' ? agent.state : 'running'
      // An agent that had finished before that compaction was reported then.
      if (id !== undefined && agent.state !== 'finished' && !this.agents.has(id))
        this.agents.set(id, { id, type, description, state: is })
    }
    const path = attachment.type === 'memory-files' ? stringAt(attachment, 'filename') : undefined
    if (path !== undefined) this.memoryFiles.add(path)
    const server = stringAt(state, 'server')
    if (server !== undefined && !this.mcp.has(server)) this.mcp.set(server, text)
    if (state?.deferredTools === true && this.tools.size === 0) {
      for (const line of text.split('\n')) this.tools.set(line.split(':')[0] ?? line, line)
    }
  }
}

const refusal = /doesn't want to|does not want to|\brejected\b|\bdenied\b|\bnot approved\b|\bkeep planning\b/i

/** The spelling of a server's name inside the names of its tools. */
function serverKey(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/g, '_')
}

function changeNames(names: Map<string, string>, delta: JsonObject, texts: readonly string[]): void {
  for (const name of stringsAt(delta, 'removedNames')) names.delete(name)
  for (const [at, name] of stringsAt(delta, 'addedNames').entries()) names.set(name, texts[at] ?? name)
}
