// What is remembered while a session's state is read off its transcript, and how names and skills are put into it.
import type { Todo } from '../ledger/facts.ts'
import type { ToolUseBlock } from '../message/block.ts'
import { type JsonObject, stringAt, stringsAt } from '../message/json.ts'
import type { BackgroundAgent, SessionState, Skill } from './state.ts'

export type Notes = {
  /** With how many requests there had been when it was invoked. */
  readonly skills: Map<string, { readonly skill: Skill; readonly requests: number }>
  readonly agents: Map<string, BackgroundAgent>
  readonly tools: Map<string, string>
  readonly mcp: Map<string, string>
  /** Servers whose tools were called. */
  readonly servers: Set<string>
  readonly memoryFiles: Set<string>
  /** Without a result yet, or asked for a skill. */
  readonly calls: Map<string, ToolUseBlock>
  requests: number
  /** The slash command of the message before. */
  command: string | undefined
  plan: SessionState['plan']
  /** How many requests there had been when the plan last changed. */
  planRequests: number
  /** A to-do list that the client put in. */
  listed: readonly Todo[] | undefined
  /** A call has changed the list since. */
  hasChanged: boolean
}

export function emptyNotes(): Notes {
  return {
    skills: new Map(),
    agents: new Map(),
    tools: new Map(),
    mcp: new Map(),
    servers: new Set(),
    memoryFiles: new Set(),
    calls: new Map(),
    requests: 0,
    command: undefined,
    plan: undefined,
    planRequests: 0,
    listed: undefined,
    hasChanged: false,
  }
}

/** Old: listed behind a later one, so that nobody knows when it was invoked. */
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
