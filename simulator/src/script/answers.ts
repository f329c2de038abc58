// Building blocks for scripts: answers made of text, thinking and tool uses. A script that is a function of the
// request needs nothing else. Signatures and missing ids are the server's business, never set here.
import type { JsonObject } from 'everlong/internal'
import type { Answer } from './script.ts'

export function text(words: string): Answer {
  return { content: [{ type: 'text', text: words }] }
}

export function thinking(words: string): Answer {
  return { content: [{ type: 'thinking', thinking: words }] }
}

export function toolUse(name: string, input: JsonObject = {}, id?: string): Answer {
  return { content: [{ type: 'tool_use', ...(id === undefined ? {} : { id }), name, input }] }
}

/** Combines several answers: their blocks in order, the last given stop reason, endless if one of them is. */
export function combine(...answers: readonly Answer[]): Answer {
  const stopReason = answers.findLast((answer) => answer.stopReason !== undefined)?.stopReason
  return {
    content: answers.flatMap((answer) => answer.content),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(answers.some((answer) => answer.endless) ? { endless: true } : {}),
  }
}
