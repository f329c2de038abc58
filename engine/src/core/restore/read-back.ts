// Reads back what an earlier compaction of ours put into the context: of a session that is opened again, the records
// before that compaction are not read. What is known from the records themselves is better, and stays.
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import type { BackgroundAgent } from './state.ts'
import { type Notes, noteSkill } from './state-notes.ts'

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
  const state: BackgroundAgent['state'] = agent.state === 'finished-unreported' ? 'finished-unreported' : 'running'
  agents.set(id, {
    id,
    type: stringAt(agent, 'type') ?? 'agent',
    description: stringAt(agent, 'description') ?? '',
    state,
  })
}
