// What Cline leaves of a conversation once a model has summarized it (its default, "agentic"), in our words: its package,
// @cline/core, can be run, but brings 250 MB of others. Held against version 0.0.86 over recorded sessions: the same.
import type { Block, Message } from 'everlong'
import { blocksOf, isToolResult, isToolUse, type JsonObject } from 'everlong/internal'

/** What of the newest messages stays, unless a setting says otherwise. */
export const clineKeeps = 20_000

/** The first message that stays, 0 when there is nothing to summarize. */
export function clineCut(messages: readonly Message[], keep: number): number {
  let cut = messages.length
  for (let tokens = 0; cut > 0 && tokens < keep; ) tokens += tokensOf(messages[--cut])
  // The turn that is going on stays whole, unless it is the first.
  const turn = messages.findLastIndex((message) => !isAnswerOrResults(message))
  if (turn > 0) cut = Math.min(cut, turn)
  while (cut > 0 && isResults(messages[cut])) cut--
  return cut
}

/** Replaces the messages before the cut: the summary, and which files their tools read and changed. */
export function clineSummary(summary: string, folded: readonly Message[]): string {
  if (/^## Files$/im.test(summary)) return `Context summary:\n\n${summary.trim()}`
  const calls = folded.flatMap(({ content }) => blocksOf(content)).filter(isToolUse)
  const read = listOf(calls.filter(({ name }) => /^(read|view)/i.test(name)))
  const changed = listOf(calls.filter(({ name }) => /edit|write|patch/i.test(name)))
  return `Context summary:\n\n${summary.trim()}\n\n## Files\nRead:\n${read}\nModified:\n${changed}`
}

function listOf(calls: readonly Block[]): string {
  const paths = new Set(calls.flatMap(({ input }) => pathsIn(input as JsonObject)))
  if (paths.size === 0) return '- none'
  return [...paths]
    .sort((a, b) => a.localeCompare(b))
    .map((path) => `- ${path}`)
    .join('\n')
}

function pathsIn(input: JsonObject): readonly string[] {
  return [input.path, input.file_path, input.target_file]
    .filter((path) => typeof path === 'string')
    .map((path) => path.trim())
    .filter((path) => path !== '')
}

/** It counts three characters of JSON as a token. */
function tokensOf(message: Message | undefined): number {
  return Math.ceil(JSON.stringify(message).length / 3)
}

function isAnswerOrResults(message: Message): boolean {
  return message.role === 'assistant' || isResults(message)
}

function isResults(message: Message | undefined): boolean {
  const blocks = message?.role === 'user' ? blocksOf(message.content) : []
  return blocks.length > 0 && blocks.every(isToolResult)
}
