// Reads a session's state off its transcript, in the records of Claude Code: plan, skills, background agents, announced
// tools, memory files. To-dos are the ledger's and pins the view's: they are not here.
import { blocksOf, isToolUse, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { arrayAt, isObject, type JsonObject, objectAt, stringAt, stringsAt } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { type BackgroundAgent, emptyState, type SessionState, type Skill } from './state.ts'

export type StateBook = {
  /** In the order of the transcript. */
  readonly add: (message: ViewMessage, record?: JsonObject) => void
  readonly state: () => SessionState
}

type Notes = {
  readonly skills: Map<string, Skill>
  readonly agents: Map<string, BackgroundAgent>
  readonly tools: Map<string, string>
  readonly mcp: Map<string, string>
  readonly memoryFiles: Set<string>
  /** Which skill a call asked for. */
  readonly asked: Map<string, string>
  plan: SessionState['plan']
}

const mostAsked = 256

export function createStateBook(): StateBook {
  const notes: Notes = {
    skills: new Map(),
    agents: new Map(),
    tools: new Map(),
    mcp: new Map(),
    memoryFiles: new Set(),
    asked: new Map(),
    plan: undefined,
  }
  return {
    add: (message, record) => {
      noteAttachment(notes, objectAt(record, 'attachment'))
      noteRaw(notes, objectAt(record, 'toolUseResult'))
      // What a skill says comes as a meta message that names the call which asked for it.
      const name = notes.asked.get(stringAt(record, 'sourceToolUseID') ?? '')
      if (name !== undefined && message.role === 'user') noteSkill(notes, { name, content: textOf(message.content) })
      if (message.origin === 'meta' || isRequest(message.origin)) noteReport(notes, textOf(message.content))
      for (const block of blocksOf(message.content)) {
        const skill = isToolUse(block) ? stringAt(block.input, 'skill') : undefined
        if (isToolUse(block) && skill !== undefined) notes.asked.set(block.id, skill)
      }
      dropOldest(notes.asked, mostAsked)
    },
    state: () => ({
      ...emptyState,
      ...(notes.plan ? { plan: notes.plan } : {}),
      skills: [...notes.skills.values()].toReversed(),
      agents: [...notes.agents.values()],
      deferredTools: [...notes.tools.values()],
      mcpInstructions: [...notes.mcp].map(([name, text]) => ({ name, text })),
      memoryFiles: [...notes.memoryFiles],
    }),
  }
}

function noteAttachment(notes: Notes, attachment: JsonObject | undefined): void {
  switch (attachment?.type) {
    case 'invoked_skills':
      for (const skill of arrayAt(attachment, 'skills').filter(isObject).toReversed()) noteSkill(notes, skill)
      break
    case 'deferred_tools_delta':
      changeNames(notes.tools, attachment, stringsAt(attachment, 'addedLines'))
      break
    case 'mcp_instructions_delta':
      changeNames(notes.mcp, attachment, stringsAt(attachment, 'addedBlocks'))
      break
    case 'nested_memory': {
      const path = stringAt(attachment, 'path')
      if (path !== undefined) notes.memoryFiles.add(path)
      break
    }
    case 'plan_mode':
    case 'plan_mode_reentry':
    case 'plan_mode_exit': {
      const path = stringAt(attachment, 'planFilePath')
      const isOn = attachment.type !== 'plan_mode_exit'
      notes.plan = { ...notes.plan, ...(path === undefined ? {} : { path }), isOn }
    }
  }
}

function noteSkill({ skills }: Notes, skill: JsonObject): void {
  const name = stringAt(skill, 'name')
  const text = stringAt(skill, 'content')
  if (name === undefined || text === undefined) return
  const path = stringAt(skill, 'path')
  // Taken out first, so that the latest is the last.
  skills.delete(name)
  skills.set(name, { name, text, ...(path === undefined ? {} : { path }) })
}

function noteRaw(notes: Notes, raw: JsonObject | undefined): void {
  const text = stringAt(raw, 'plan')
  const path = stringAt(raw, 'filePath')
  if (text !== undefined) notes.plan = { text, ...(path === undefined ? {} : { path }), isOn: false }
  const id = stringAt(raw, 'agentId')
  if (id === undefined) return
  const description = stringAt(raw, 'description') ?? ''
  if (raw?.isAsync === true) notes.agents.set(id, { id, type: 'agent', description, state: 'running' })
  else notes.agents.delete(id)
}

function changeNames(names: Map<string, string>, delta: JsonObject, texts: readonly string[]): void {
  for (const name of stringsAt(delta, 'removedNames')) names.delete(name)
  for (const [at, name] of stringsAt(delta, 'addedNames').entries()) names.set(name, texts[at] ?? name)
}

/** A background agent that has reported is no longer in the background. */
function noteReport({ agents }: Notes, text: string): void {
  const [, id] = /^\s*<task-notification>[\s\S]*?<task-id>\s*([\w-]+)\s*<\/task-id>/.exec(text) ?? []
  if (id !== undefined) agents.delete(id)
}
