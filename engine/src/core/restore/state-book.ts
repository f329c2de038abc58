// Reads a session's state from Claude Code records: plan, skills and commands, background agents, announced tools, rule
// files, todo lists that the client added, and what an earlier compaction of ours restored. Pins are kept by the view.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt, stringsAt } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { pathsOf, type ToolCall, toolCall } from '../tools/call.ts'
import { listedTodos, type Todo } from '../tools/todos.ts'
import { emptyState, type SessionState, type Skill } from './restorer.ts'
import { changeNames, emptyNotes, type Notes, noteRestored, noteSkill } from './state-notes.ts'

export type StateBook = {
  /** In the order of the transcript. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  /** `todos`: the list as tool calls left it (from the ledger). */
  readonly state: (todos: readonly Todo[]) => SessionState
}

const mostCalls = 256
/** A skill counts as running until this many messages of the user later. */
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
        if (isToolUse(block)) noteCall(notes, block.id, toolCall(block))
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

/** Latest first. A command may have invoked a skill: then both are running. A later request's replace them. */
function skillsOf({ skills, requests }: Notes): readonly Skill[] {
  const latest = Math.max(...[...skills.values()].map((invoked) => invoked.requests))
  const isRunning = (then: number) => then === latest && requests - then < mostRequests
  return [...skills.values()]
    .toReversed()
    .map(({ skill, requests: then }) => (isRunning(then) ? { ...skill, isRunning: true } : skill))
}

/** The client's own list until a call replaces it, plus what calls have added since. */
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
  const todos = listedTodos(arrayAt(attachment, 'content'))
  // A reminder without items says that there is nothing to remind of, not that the list is empty.
  if (todos.length === 0) return
  notes.listed = todos
  notes.hasChanged = false
}

type PlanNews = { readonly path?: string | undefined; readonly text?: string | undefined; readonly isOn?: boolean }

/** Fields that are not given stay as they are, except the text of another plan file. */
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

/** The client records its mode with each request. */
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
  // The text of a skill is a meta message that names the call; the text of a command follows the command.
  const call = notes.calls.get(stringAt(record, 'sourceToolUseID') ?? '')
  const skill = call?.type === 'skill' ? call.skill : undefined
  const name = skill ?? (isMeta && !text.startsWith('<') ? notes.command : undefined)
  if (name !== undefined && text !== '') noteSkill(notes, { name, content: text })
  notes.command = commandName.exec(text.slice(0, 2_000))?.[1]
  if (isRequest(message.origin)) notes.requests++
  noteReport(notes, text)
}

function noteCall(notes: Notes, id: string, call: ToolCall): void {
  notes.calls.set(id, call)
  const [prefix, server] = call.name.split('__')
  if (prefix === 'mcp' && server !== undefined) notes.servers.add(serverKey(server))
}

/** A server's name as it is spelled in the names of its tools. */
function serverKey(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/g, '_')
}

function noteResult(notes: Notes, result: ToolResultBlock, raw: JsonObject | undefined): void {
  const call = notes.calls.get(result.tool_use_id)
  if (!call) return
  const isError = result.is_error === true
  if (call.type === 'plan' && call.act === 'exit') {
    // A rejected plan is still the plan, and plan mode is still on.
    const isRejected = isError || isRefusal(textOf(result.content))
    const text = stringAt(raw, 'plan') ?? call.text
    notePlan(notes, { path: stringAt(raw, 'filePath'), text, ...(isRejected ? {} : { isOn: false }) })
  }
  if (isError) return
  if (call.type === 'plan' && call.act === 'enter') notePlan(notes, { isOn: true })
  if (call.type === 'todo') {
    if (call.change?.type === 'list-replaced') notes.listed = undefined
    notes.hasChanged = true
  }
  // Whatever is done to the plan's file, except reading it, may have changed the plan.
  if (notes.plan?.path !== undefined && call.type !== 'read' && pathsOf(call).includes(notes.plan.path)) {
    notes.planRequests = notes.requests
  }
  noteAgent(notes, raw)
}

function isRefusal(text: string): boolean {
  return /doesn't want to|does not want to|\brejected\b|\bdenied\b|\bnot approved\b|\bkeep planning\b/i.test(
    text.slice(0, 500),
  )
}

function noteAgent(notes: Notes, raw: JsonObject | undefined): void {
  const id = stringAt(raw, 'agentId')
  if (id === undefined) return
  const description = stringAt(raw, 'description') ?? ''
  if (raw?.isAsync === true) notes.agents.set(id, { id, type: 'agent', description, state: 'running' })
  else notes.agents.delete(id)
}

/** A background agent that has reported is finished. */
function noteReport({ agents }: Notes, text: string): void {
  const [, id] = /^\s*<task-notification>[\s\S]{0,2000}?<task-id>\s*([\w-]+)\s*<\/task-id>/.exec(text) ?? []
  if (id !== undefined) agents.delete(id)
}
