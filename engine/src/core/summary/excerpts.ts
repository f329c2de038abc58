// The code that the agent changed or read last, as it was last seen, in pieces small enough to choose among. It shows
// what stands in the messages and nothing else.
import { withoutSecrets } from '../ledger/secrets.ts'
import { patchedFiles, patchOf, pathOf, toolKind } from '../ledger/tools.ts'
import { blocksOf, isToolResult, isToolUse, type ToolUseBlock, textOf } from '../message/block.ts'
import { arrayAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'

export type Excerpt = {
  readonly path: string
  readonly at: number
  readonly how: 'changed' | 'written' | 'read'
  readonly code: string
}

const mostExcerpts = 40
const longestExcerpt = 2400
const mostLines = 48

/** Newest first; what a later change of the same place replaced is left out. */
export function lastExcerpts(messages: readonly ViewMessage[]): readonly Excerpt[] {
  const found: Excerpt[] = []
  const replaced: string[] = []
  const results = new Map<string, string>()
  for (let at = messages.length - 1; at >= 0 && found.length < mostExcerpts; at--) {
    const message = messages[at]
    for (const block of blocksOf(message?.content).toReversed()) {
      if (isToolResult(block) && block.is_error !== true) results.set(block.tool_use_id, textOf(block.content))
      if (!isToolUse(block) || message?.origin !== 'assistant') continue
      for (const part of partsOf(block, results.get(block.id))) {
        const isOld = replaced.some((old) => old.includes(part.code) || part.code.includes(old))
        if (!isOld && part.code.trim().length >= 24) found.push({ ...part, at, code: shortened(part.code) })
        replaced.push(...part.before)
      }
    }
  }
  return found
}

type Part = Pick<Excerpt, 'path' | 'how' | 'code'> & { readonly before: readonly string[] }

function partsOf({ name, input }: ToolUseBlock, result: string | undefined): readonly Part[] {
  const path = pathOf(input)
  switch (toolKind(name, input)) {
    case 'read':
      return path === undefined || result === undefined ? [] : [{ path, how: 'read', code: result, before: [] }]
    case 'edit': {
      const edits = arrayAt(input, 'edits')
      return (edits.length > 0 ? edits : [input]).flatMap((edit): readonly Part[] => {
        const code = stringAt(edit, 'new_string') ?? stringAt(edit, 'newText') ?? stringAt(edit, 'new_str')
        const old = stringAt(edit, 'old_string') ?? stringAt(edit, 'oldText') ?? stringAt(edit, 'old_str') ?? ''
        return path === undefined || code === undefined
          ? []
          : [{ path, how: 'changed', code, before: old.trim().length >= 24 ? [old] : [] }]
      })
    }
    case 'write': {
      const code = stringAt(input, 'content') ?? stringAt(input, 'file_text')
      return path === undefined || code === undefined ? [] : [{ path, how: 'written', code, before: [] }]
    }
    case 'patch': {
      const patch = patchOf(input)
      const [file] = patchedFiles(patch)
      const code = patch
        .split('\n')
        .filter((line) => /^\+(?!\+\+)/.test(line))
        .map((line) => line.slice(1))
        .join('\n')
      return file === undefined ? [] : [{ path: file.path, how: 'changed', code, before: [] }]
    }
    default:
      return []
  }
}

/** Both ends of what is long. */
function shortened(code: string): string {
  const lines = withoutSecrets(code)
    .toWellFormed()
    .replace(/^\n+|\s+$/g, '')
    .split('\n')
  const few =
    lines.length <= mostLines ? lines : [...lines.slice(0, 32), `… ${lines.length - 40} lines …`, ...lines.slice(-8)]
  const text = few.join('\n')
  return text.length <= longestExcerpt ? text : `${text.slice(0, longestExcerpt).toWellFormed()}\n…`
}

/** A fenced block whose fence the code cannot close. */
export function fenced(code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([marks]) => marks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${code}\n${fence}`
}
