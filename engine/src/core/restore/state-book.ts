// Reads a session's state off its transcript, in the records of Claude Code: plan, skills and commands, background agents,
// announced tools, rule files, to-do lists that the client put in. Also what an earlier compaction of ours put back: the
// records before it may not have been read. Pins are the view's: they are not here.
import type { Todo } from '../ledger/facts.ts'
import { todoChange } from '../ledger/tools.ts'
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt, stringsAt } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { pathIn, toolJob } from '../message/tool-names.ts'
import { noteRestored } from './read-back.ts'
import { emptyState, type SessionState, type Skill } from './state.ts'
import { changeNames, emptyNotes, type Notes, noteSkill } from './state-notes.ts'

export type StateBook = {
  /** In the order of the transcript. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** `todos` are those that calls left, as the ledger has them. */
  readonly state: (todos: readonly Todo[]) => SessionState
}

const mostCalls = 256
/** A skill is being executed until a person has said so many things since. */
const mostRequests = 3

export function createStateBook(): StateBook {
  const notes = emptyNotes()
  return {
    add: (message, record) => {
      const attachment = objectAt(record, 'attachment')
      if (attachment?.isRestored === true) noteRestored(notes, attachment)
      else noteAttachment(notes, attachment)
      noteText(notes, message, record)
      noteMode(notes, record)
      for (const block of blocksOf(message.content)) {
        if (isToolUse(block)) noteCall(notes, block)
        if (isToolResult(block)) noteResult(notes, block, objectAt(record, 'toolUseResult'))
      }
      dropOldest(notes.calls, mostCalls)
    },
    state: (todos) => ({
      ...emptyState,
      todos: todosOf(notes, todos),
      ...(notes.plan ? { plan: { ...notes.plan, ...agedBy(notes.requests - notes.planRequests) } } : {}),
      skills: skillsOf(notes),
      agents: [...notes.agents.values()],
      deferredTools: [...notes.tools.values()],
      mcpInstructions: [...notes.mcp].map(([name, text]) => ({
        name,
        text,
        isUsed: notes.servers.has(serverKey(name)),
      })),
      memoryFiles: [...notes.memoryFiles],
    }),
  }
}

function agedBy(requestsSince: number): { readonly requestsSince?: number } {
  return requestsSince > 0 ? { requestsSince } : {}
}

/** Latest first. A command may have invoked a skill: both are being executed. */
function skillsOf({ skills, requests }: Notes): readonly Skill[] {
  return [...skills.values()]
    .toReversed()
    .map(({ skill, requests: then }) => (requests - then < mostRequests ? { ...skill, isRunning: true } : skill))
}

/** The client's own list, until a call replaces it; what calls have added since stands beside it. */
function todosOf({ listed, hasChanged }: Notes, todos: readonly Todo[]): readonly Todo[] {
  if (!listed) return todos
  if (!hasChanged) return listed
  const known = new Set(todos.map(({ id }) => id))
  return [...listed.filter(({ id }) => !known.has(id)), ...todos]
}

function noteAttachment(notes: Notes, attachment: JsonObject | undefined): void {
  const path = stringAt(attachment, 'planFilePath')
  switch (attachment?.type) {
    case 'invoked_skills':
      for (const [at, skill] of [...arrayAt(attachment, 'skills').filter(isObject).entries()].toReversed()) {
        noteSkill(notes, skill, { isOld: at > 0 })
      }
      break
    case 'deferred_tools_delta':
      changeNames(notes.tools, attachment, stringsAt(attachment, 'addedLines'))
      break
    case 'mcp_instructions_delta':
      changeNames(notes.mcp, attachment, stringsAt(attachment, 'addedBlocks'))
      break
    case 'nested_memory':
      notes.memoryFiles.add(stringAt(attachment, 'path') ?? '')
      notes.memoryFiles.delete('')
      break
    case 'todo':
    case 'todo_reminder':
    case 'task_reminder':
      noteList(notes, attachment)
      break
    case 'plan_mode':
    case 'plan_mode_reentry':
      notePlan(notes, { path, isOn: true })
      break
    case 'plan_mode_exit':
      notePlan(notes, { path, isOn: false })
      break
    case 'plan_file_reference':
      notePlan(notes, { path, text: stringAt(attachment, 'planContent') })
  }
}

function noteList(notes: Notes, attachment: JsonObject): void {
  const change = todoChange({ todos: arrayAt(attachment, 'content') })
  // A reminder without items says that there is nothing to remind of, not that the list is empty.
  if (change?.type !== 'list-replaced' || change.todos.length === 0) return
  notes.listed = change.todos
  notes.hasChanged = false
}

type PlanNews = { readonly path?: string | undefined; readonly text?: string | undefined; readonly isOn?: boolean }

/** What is not said stays; the text of another file does not. */
function notePlan(notes: Notes, { path, text, isOn }: PlanNews): void {
  const known =
    path === undefined || notes.plan?.path === undefined || notes.plan.path === path ? notes.plan : undefined
  const before = notes.plan
  notes.plan = {
    ...known,
    ...(path === undefined ? {} : { path }),
    ...(text === undefined ? {} : { text }),
    isOn: isOn ?? before?.isOn ?? false,
  }
  const isSame =
    before?.path === notes.plan.path && before?.text === notes.plan.text && before?.isOn === notes.plan.isOn
  if (!isSame) notes.planRequests = notes.requests
}

/** What the client says about the mode with each request. */
function noteMode(notes: Notes, record: JsonObject | undefined): void {
  const mode = stringAt(record, 'permissionMode')
  if (mode === 'plan') notePlan(notes, { isOn: true })
  else if (mode !== undefined && notes.plan?.isOn) notePlan(notes, { isOn: false })
  const text = stringAt(record, 'planContent')
  if (text !== undefined) notePlan(notes, { text, isOn: false })
}

const commandName = /<command-name>\s*(\/[^<\s]+)\s*<\/command-name>/

function noteText(notes: Notes, message: ViewMessage, record: JsonObject | undefined): void {
  if (message.origin === 'assistant') notes.command = undefined
  const isMeta = message.origin === 'meta'
  if (!isMeta && !isRequest(message.origin)) return
  const text = textOf(message.content)
  // What a skill says comes as a meta message that names the call which asked for it; what a command says, right behind it.
  const call = notes.calls.get(stringAt(record, 'sourceToolUseID') ?? '')
  const name = stringAt(call?.input, 'skill') ?? (isMeta && !text.startsWith('<') ? notes.command : undefined)
  if (name !== undefined && text !== '') noteSkill(notes, { name, content: text })
  notes.command = commandName.exec(text.slice(0, 2_000))?.[1]
  if (isRequest(message.origin)) notes.requests++
  noteReport(notes, text)
}

function noteCall(notes: Notes, call: ToolUseBlock): void {
  notes.calls.set(call.id, call)
  const [prefix, server] = call.name.split('__')
  if (prefix === 'mcp' && server !== undefined) notes.servers.add(serverKey(server))
}

/** A server's name as it stands in the names of its tools. */
function serverKey(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/g, '_')
}

function noteResult(notes: Notes, result: ToolResultBlock, raw: JsonObject | undefined): void {
  const { tool_use_id, is_error } = result
  const call = notes.calls.get(tool_use_id)
  if (!call) return
  const isExit = toolName(call) === 'exitplanmode'
  // A plan that was turned down is still the plan, and plan mode is still on.
  if (isExit) notePlan(notes, planOf(call, raw, is_error === true || isRefusal(textOf(result.content))))
  if (is_error === true) return
  if (toolName(call) === 'enterplanmode') notePlan(notes, { isOn: true })
  if (toolJob(call.name) === 'todo') noteTodoCall(notes, call)
  // Whatever is done to the file of the plan, other than reading it, may have changed the plan.
  if (notes.plan?.path !== undefined && pathIn(call.input) === notes.plan.path && toolJob(call.name) !== 'read') {
    notes.planRequests = notes.requests
  }
  noteAgent(notes, raw)
}

function planOf(call: ToolUseBlock, raw: JsonObject | undefined, isRejected: boolean): PlanNews {
  const text = stringAt(raw, 'plan') ?? stringAt(call.input, 'plan')
  return { path: stringAt(raw, 'filePath'), text, ...(isRejected ? {} : { isOn: false }) }
}

function isRefusal(text: string): boolean {
  return /doesn't want to|does not want to|\brejected\b|\bdenied\b|\bnot approved\b|\bkeep planning\b/i.test(
    text.slice(0, 500),
  )
}

function toolName({ name }: ToolUseBlock): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

function noteTodoCall(notes: Notes, { input }: ToolUseBlock): void {
  const change = todoChange(input)
  if (change?.type === 'list-replaced') notes.listed = undefined
  notes.hasChanged = true
}

function noteAgent(notes: Notes, raw: JsonObject | undefined): void {
  const id = stringAt(raw, 'agentId')
  if (id === undefined) return
  const description = stringAt(raw, 'description') ?? ''
  if (raw?.isAsync === true) notes.agents.set(id, { id, type: 'agent', description, state: 'running' })
  else notes.agents.delete(id)
}

/** A background agent that has reported is no longer in the background. */
function noteReport({ agents }: Notes, text: string): void {
  const [, id] = /^\s*<task-notification>[\s\S]{0,2000}?<task-id>\s*([\w-]+)\s*<\/task-id>/.exec(text) ?? []
  if (id !== undefined) agents.delete(id)
}
