// The output of a command: redacted, split into lines, kept as a preview, and stored in a file if it is long.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Redactor } from '../../permissions/secrets.ts'
import { problemOf } from '../kit.ts'
import { cleanLine, createPreview, maxInline } from './preview.ts'

export type OutputOptions = {
  readonly redactor: Redactor
  /** File for the whole output if it is long. */
  readonly path: string
  /** Called once, when the output exceeds the file's limit. */
  readonly onFull: () => void
  /** Called for each complete line. */
  readonly onLine?: (line: string) => void
}

export type Output = {
  readonly add: (text: string) => void
  readonly end: () => void
  /** The output since the last call, with a note about the file if it is long. */
  readonly take: () => string
  /** The newest lines, including ones that were already returned. */
  readonly recent: () => readonly string[]
}

const maxFileBytes = 64 * 1024 * 1024
/** A line without an end is cut here. */
const maxPieceLength = 64 * 1024
const maxRecent = 200

export function createOutput({ redactor, path, onFull, onLine }: OutputOptions): Output {
  const stream = redactor.stream()
  let preview = createPreview()
  let recent: string[] = []
  /** All lines, until they go to the file because there are too many. */
  let early: string[] = []
  let file: number | undefined
  let size = 0
  let partial = ''
  let isEnded = false
  /** The reason why the output is not stored. */
  let lost: string | undefined
  const store = (text: string) => {
    try {
      file ??= openNew(path)
      writeSync(file, text)
    } catch (error) {
      lost = problemOf(error, path)
    }
  }
  const addLine = (line: string) => {
    preview.add(line)
    recent.push(line)
    if (recent.length > 2 * maxRecent) recent = recent.slice(-maxRecent)
    onLine?.(line)
    const isOver = size > maxFileBytes || lost !== undefined
    size += line.length + 1
    if (isOver) return
    if (file !== undefined) store(`${line}\n`)
    else early.push(line)
    if (file === undefined && size > maxInline) {
      store(`${early.join('\n')}\n`)
      early = []
    }
    if (size > maxFileBytes) onFull()
  }
  const addText = (text: string) => {
    const lines = (partial + text).split('\n')
    partial = lines.pop() ?? ''
    for (const line of lines) addLine(cleanLine(line))
    if (partial.length > maxPieceLength) {
      addLine(cleanLine(partial))
      partial = ''
    }
  }
  return {
    add: (text) => {
      if (!isEnded) addText(stream.add(text))
    },
    end: () => {
      isEnded = true
      addText(stream.end())
      if (partial !== '') addLine(cleanLine(partial))
      partial = ''
      if (file !== undefined) closeSync(file)
      file = undefined
    },
    recent: () => recent.slice(-maxRecent),
    take: () => {
      const taken = preview
      preview = createPreview()
      if (!taken.isLong()) return taken.text()
      const { characters, lines } = taken.size()
      const where =
        lost === undefined
          ? `The whole output is in ${path}: search it with Grep or read a part with Read.`
          : `The whole output could not be stored: ${lost}`
      return `[${characters.toLocaleString('en')} characters in ${lines.toLocaleString('en')} lines. ${where}]\n${taken.text()}`
    },
  }
}

function openNew(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // It may hold secrets, so other users must not read it.
  return openSync(path, 'w', 0o600)
}
