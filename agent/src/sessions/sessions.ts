// The sessions of one project: listed newest first, found by id, named, copied. Transcripts are never rewritten.
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { decodeLine, messagesOf, textOf } from 'everlong/internal'
import { forEachEntry, sessionFolder, writeNewTranscript } from 'everlong/internal/node'
import { copyCheckpoints } from '../checkpoints/checkpoints.ts'
import { typedWords } from '../command-message.ts'

export type SessionSummary = {
  readonly id: string
  readonly path: string
  /** The name that the person gave. */
  readonly title?: string
  /** The first words of the person. */
  readonly firstPrompt: string
  /** Milliseconds since 1970. */
  readonly changed: number
  readonly bytes: number
}

const extension = '.jsonl'

export function newSessionPath(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return join(folder, `${randomUUID()}${extension}`)
}

/** Newest first, without sessions in which nobody said anything. */
export function listSessions(folder: string): readonly SessionSummary[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => name.endsWith(extension))
  const found = names.flatMap((name) => summaryOf(join(folder, name), name.slice(0, -extension.length)) ?? [])
  return found.toSorted((a, b) => b.changed - a.changed || (a.id < b.id ? -1 : 1))
}

function summaryOf(path: string, id: string): SessionSummary | undefined {
  const state = statSync(path, { throwIfNoEntry: false })
  if (!state?.isFile()) return undefined
  const firstPrompt = firstPromptIn(path)
  const title = titleOf(path)
  if (firstPrompt === undefined && title === undefined) return undefined
  const { mtimeMs: changed, size: bytes } = state
  return { id, path, ...(title === undefined ? {} : { title }), firstPrompt: firstPrompt ?? '', changed, bytes }
}

const headBytes = 256 * 1024
const nowhere = { line: 0, offset: 0, length: 0, nth: 0 }

/** Reads only the head of the file, because lists must be fast with hundreds of long sessions. */
function firstPromptIn(path: string): string | undefined {
  const buffer = Buffer.alloc(headBytes)
  const file = openSync(path, 'r')
  const length = readSync(file, buffer, 0, headBytes, 0)
  closeSync(file)
  for (const line of buffer.toString('utf8', 0, length).split('\n')) {
    const records = decodeLine(line).records
    const human = messagesOf(records.map((record) => ({ record, position: nowhere }))).find(
      ({ origin }) => origin === 'human',
    )
    const words = human === undefined ? '' : typedWords(textOf(human.content)).trim()
    if (words !== '') return words.replaceAll(/\s+/g, ' ').slice(0, 200)
  }
  return undefined
}

/** A short name from the first words and the start of the id: `fix-the-failing-test-1a2b`. */
export function shortName(words: string, id: string): string {
  const parts = words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return [...parts.slice(0, maxNameWords).join('-').slice(0, maxName).split('-'), id.slice(0, 4)]
    .filter((part) => part !== '')
    .join('-')
}

const maxNameWords = 6
const maxName = 40

/** Short names by path. A file is read until it has one. */
export function createNames(): (path: string) => string | undefined {
  const names = new Map<string, string>()
  return (path) => {
    const words = names.has(path) || !existsSync(path) ? undefined : firstPromptIn(path)
    if (words !== undefined) names.set(path, shortName(words, basename(path, extension)))
    return names.get(path)
  }
}

/** By its id, the start of it, its title, or its short name. Must match only one session. */
export function findSession(folder: string, id: string): SessionSummary | string {
  const fits = ({ id: own, title, firstPrompt }: SessionSummary) =>
    own.startsWith(id) || title === id || shortName(firstPrompt, own) === id
  const found = listSessions(folder).filter(fits)
  const [first, second] = found
  const exact = found.find((session) => session.id === id)
  if (exact) return exact
  if (!first) return `There is no session ${id} in this project. everlong agent --resume lists those there are.`
  return second
    ? `${id} fits ${found.length} sessions. Give the id of one: ${found.map((each) => each.id.slice(0, 8)).join(', ')}.`
    : first
}

/** Facts about a session, stored next to its transcript, one line each. */
type FactFile = 'title.txt' | 'model.txt'

function readFact(path: string, name: FactFile): string | undefined {
  const file = join(sessionFolder(path), name)
  if (!existsSync(file)) return undefined
  return readFileSync(file, 'utf8').split('\n', 1)[0]?.trim() || undefined
}

function writeFact(path: string, name: FactFile, text: string): void {
  mkdirSync(sessionFolder(path), { recursive: true, mode: 0o700 })
  writeFileSync(join(sessionFolder(path), name), `${text}\n`, { mode: 0o600 })
}

export function titleOf(path: string): string | undefined {
  return readFact(path, 'title.txt')
}

export function renameSession(path: string, title: string): void {
  writeFact(path, 'title.txt', title.replaceAll(/\s+/g, ' ').trim().slice(0, 200))
}

/** The text that selects the model which the session last used. A transcript has only the provider's name for it. */
export function modelOf(path: string): string | undefined {
  return readFact(path, 'model.txt')
}

export function rememberModel(path: string, words: string): void {
  if (modelOf(path) !== words) writeFact(path, 'model.txt', words)
}

/** A copy of the present state with its own id. Returns its path. */
export function forkSession(path: string, folder: string): string {
  const copy = newSessionPath(folder)
  const sessionId = copy.slice(folder.length + 1, -extension.length)
  writeNewTranscript(copy, (write) => {
    forEachEntry(path, ({ record }) => write('sessionId' in record ? { ...record, sessionId } : record))
  })
  copyCheckpoints(path, copy)
  const [title, model] = [titleOf(path), modelOf(path)]
  if (title !== undefined) renameSession(copy, `${title} (copy)`)
  if (model !== undefined) rememberModel(copy, model)
  return copy
}
