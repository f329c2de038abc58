// What is remembered while a session's state is read off its transcript, and what an earlier compaction of ours restored:
// of a session that is opened again, the records before that compaction are not read.
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt, stringsAt } from '../message/json.ts'
import type { ToolCall } from '../tools/call.ts'
import type { Todo } from '../tools/todos.ts'
import type { BackgroundAgent, SessionState, Skill } from './restorer.ts'

export type Notes = ReturnType<typeof emptyNotes>

export function emptyNotes() {
  return {
    /** With how many requests there had been when each was invoked. */
    skills: new Map<string, { readonly skill: Skill; readonly requests: number }>(),
    agents: new Map<string, BackgroundAgent>(),
    tools: new Map<string, string>(),
    mcp: new Map<string, string>(),
    /** Servers whose tools were called. */
    servers: new Set<string>(),
    memoryFiles: new Set<string>(),
    /** Without a result yet, or asked for a skill. */
    calls: new Map<string, ToolCall>(),
    requests: 0,
    /** The slash command of the message before. */
    command: undefined as string | undefined,
    plan: undefined as SessionState['plan'],
    /** How many requests there had been when the plan last changed. */
    planRequests: 0,
    /** A todo list that the client put in. */
    listed: undefined as readonly Todo[] | undefined,
    /** A call has changed the list since. */
    hasChanged: false,
  }
}

/** Old if it is listed after a later one: nobody knows when it was invoked. */
export function noteSkill({ skills, requests }: Notes, skill: JsonObject, { isOld = false } = {}): void {
  const name = stringAt(skill, 'name')
  const text = stringAt(skill, 'content')
  if (name === undefined || text === undefined) return
  const path = stringAt(skill, 'path')
  // Taken out first, so that the latest is the last.
  skills.delete(name)
  const since = isOld ? Number.NEGATIVE_INFINITY : requests
  skills.set(name, { skill: { name, text, ...(path === undefined ? {} : { path }) }, requests: since })
}

export function changeNames(names: Map<string, string>, delta: JsonObject, texts: readonly string[]): void {
  for (const name of stringsAt(delta, 'removedNames')) names.delete(name)
  for (const [at, name] of stringsAt(delta, 'addedNames').entries()) names.set(name, texts[at] ?? name)
}

/** What is known from the records themselves is better, and stays. */
export function noteRestored(notes: Notes, attachment: JsonObject): void {
  const state = objectAt(attachment, 'state')
  const text = textBehindTitle(stringAt(attachment, 'content') ?? '')
  switch (attachment.type) {
    case 'plan': {
      const plan = objectAt(state, 'plan')
      const path = stringAt(plan, 'path')
      const known = { ...(path === undefined ? {} : { path }), ...(plan?.hasText === true ? { text } : {}) }
      if (plan === undefined || notes.plan) break
      notes.plan = { ...known, isOn: plan.isOn === true }
      notes.planRequests = notes.requests - (numberAt(plan, 'requestsSince') ?? 0)
      break
    }
    case 'skills': {
      const skill = objectAt(state, 'skill')
      if (skill) noteEarlierSkill(notes, { ...skill, content: text })
      break
    }
    case 'agents':
      for (const agent of arrayAt(state, 'agents').filter(isObject)) noteAgent(notes, agent)
      break
    case 'memory-files': {
      const path = stringAt(attachment, 'filename')
      if (path !== undefined) notes.memoryFiles.add(path)
      break
    }
    case 'tools': {
      const server = stringAt(state, 'server')
      if (server !== undefined && !notes.mcp.has(server)) notes.mcp.set(server, text)
      if (state?.deferredTools === true && notes.tools.size === 0) {
        for (const line of text.split('\n')) notes.tools.set(line.split(':')[0] ?? line, line)
      }
    }
  }
}

function textBehindTitle(content: string): string {
  return content.slice(content.indexOf('\n') + 1)
}

/** They stand in the context latest first. */
function noteEarlierSkill(notes: Notes, skill: JsonObject): void {
  if (notes.skills.has(stringAt(skill, 'name') ?? '')) return
  const later = [...notes.skills]
  notes.skills.clear()
  noteSkill(notes, skill, { isOld: later.length > 0 })
  for (const [name, known] of later) notes.skills.set(name, known)
}

function noteAgent({ agents }: Notes, agent: JsonObject): void {
  const id = stringAt(agent, 'id')
  if (id === undefined || agents.has(id)) return
  const state = agent.state === 'finished-unreported' ? 'finished-unreported' : 'running'
  const [type = 'agent', description = ''] = [stringAt(agent, 'type'), stringAt(agent, 'description')]
  agents.set(id, { id, type, description, state })
}
