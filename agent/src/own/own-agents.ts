// Custom kinds of sub-agents: Markdown files in `agents` folders. The head says when to use one and which tools it has; the text
// is its system prompt.
import type { SubagentType } from '../subagent-tool.ts'
import type { AnyTool } from '../tool.ts'
import { byName, type Found, type MarkdownFile, markdownFiles } from './markdown-file.ts'

/** Folders with agents, most important first. `tools` are all tools that a sub-agent may have. */
export function findOwnAgents(folders: readonly string[], tools: readonly AnyTool[]): Found<SubagentType> {
  const read = folders.map(markdownFiles)
  const agents = read.flatMap(({ found }) => found.map((file) => agentOf(file, tools)))
  return {
    found: byName(agents.flatMap((each) => (typeof each === 'string' ? [] : [each]))),
    problems: [
      ...read.flatMap(({ problems }) => problems),
      ...agents.flatMap((each) => (typeof each === 'string' ? [each] : [])),
    ],
  }
}

/** Returns a string with the reason if it is invalid. */
function agentOf({ path, name, head, body }: MarkdownFile, all: readonly AnyTool[]): SubagentType | string {
  const own = head.name ?? name.replaceAll('/', ':')
  if (!/^[\w.:-]{1,64}$/.test(own)) return `${path}: use letters, digits, ".", "-" and "_" in the name`
  if (!head.description) return `${path}: the head has no description, so nobody knows when to use it`
  if (body === '') return `${path}: it has no text, which would be its system prompt`
  const wanted = listed(head.tools)
  const tools = wanted === undefined ? all : all.filter((tool) => wanted.includes(tool.name))
  const unknown = (wanted ?? []).filter((tool) => !all.some((each) => each.name === tool))
  if (unknown.length > 0) {
    return `${path}: there is no tool ${unknown.join(', ')} for sub-agents. Known: ${all.map((each) => each.name).join(', ')}`
  }
  return { name: own, description: head.description.slice(0, 1_000).toWellFormed(), system: body, tools }
}

/** `Read, Grep` or `[Read, Grep]`; undefined for all. */
function listed(words: string | undefined): readonly string[] | undefined {
  const names = words
    ?.replace(/^\[|\]$/g, '')
    .split(/[\s,]+/)
    .filter((name) => name !== '')
  return names === undefined || names.length === 0 || names.includes('*') ? undefined : names
}
