// A file that a command writes or wrote: in a report, and on the screen.
import { bytes, counted, visible } from '@everlong/agent/render'
import { structuredPatch } from 'diff'
import type { Write } from '../disk.ts'
import type { Screen } from './screen.ts'

export type FileChange = {
  readonly path: string
  readonly change: 'new' | 'changed' | 'removed'
  readonly bytes: number
  /** The lines that differ, for a file that exists before and after. */
  readonly diff: readonly string[]
}

const maxDiffLines = 40

export function fileChange({ path, before, after }: Write): FileChange {
  if (before === undefined) return { path, change: 'new', bytes: after?.length ?? 0, diff: [] }
  if (after === undefined) return { path, change: 'removed', bytes: before.length, diff: [] }
  return { path, change: 'changed', bytes: after.length, diff: diffOf(before, after) }
}

function diffOf(before: Uint8Array, after: Uint8Array): readonly string[] {
  const [old, now] = [before, after].map((content) => Buffer.from(content).toString('utf8'))
  // A bundle is one long line, so nobody reads its diff.
  if (now === undefined || /[^\n]{2000}/.test(now)) return []
  const { hunks } = structuredPatch('', '', old ?? '', now, '', '', { context: 1 })
  return hunks.flatMap(({ lines }) => lines)
}

export function fileLines({ path, change, bytes: size, diff }: FileChange, screen: Screen): readonly string[] {
  const colors = { '+': 'green', '-': 'red' } as const
  const lines = diff.slice(0, maxDiffLines).map((line) => {
    const color = colors[line[0] as keyof typeof colors]
    const text = `      ${visible(line)}`
    return color ? screen.paint(color, text) : text
  })
  const more = diff.length > maxDiffLines ? [`      … ${counted(diff.length - maxDiffLines, 'more line')}`] : []
  return [`  ${change.padEnd(7)}  ${visible(path)}  ${screen.paint('dim', bytes(size))}`, ...lines, ...more]
}
