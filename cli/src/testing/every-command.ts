// One row for each way to run each command, for tests of their common behavior. A test compares the names with those in the help,
// so that no command is missing. Only for tests.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTranscript } from 'everlong/internal/node'
import { serialize } from 'everlong/internal/testing'
import { everlong, type Ran, type RunOptions } from './harness.ts'
import { sampleSession } from './sample-session.ts'

export type CommandRow = {
  /**
   * A command line that succeeds. FILE is a session, FIRST, MIDDLE and LAST are entries of its context, NEW is a path where
   * nothing exists, HOME is a folder for the settings of agents.
   */
  readonly line: string
  /** The input of the command line: one transcript, transcripts and folders, or none. */
  readonly input: 'file' | 'path' | 'none'
  readonly writes?: 'session' | 'beside' | 'new'
  /** Command lines to run first. */
  readonly after?: readonly string[]
  /** How a second run ends. By default like the first one, with the same output. */
  readonly again?: { readonly exitCode: number; readonly stderr: RegExp }
  /** Figures on the screen that are computed from the report and not contained in it. */
  readonly computed?: readonly string[]
  readonly hasJson?: false
}

const now = '--now 2026-03-02T10:30:00Z'
const exists = { exitCode: 1, stderr: /exists/ }
const nothingToDo = { exitCode: 1, stderr: /nothing/i }

export const commandRows: readonly CommandRow[] = [
  { line: 'lost FILE', input: 'path' },
  { line: 'inspect FILE', input: 'path' },
  { line: 'inspect FILE --epochs', input: 'file' },
  { line: 'inspect FILE --tree', input: 'file' },
  { line: 'inspect FILE --stats', input: 'path' },
  { line: 'context FILE', input: 'file' },
  { line: `context FILE --explain ${now}`, input: 'file', computed: ['1,176'] },
  { line: 'recall FILE limiter', input: 'path' },
  { line: 'memory FILE', input: 'file' },
  { line: 'memory FILE --write', input: 'file', writes: 'beside', again: { exitCode: 0, stderr: /^$/ } },
  { line: 'compact FILE', input: 'file' },
  { line: 'compact FILE --dry-run', input: 'file', computed: ['26'] },
  { line: 'compact FILE --out NEW', input: 'file', writes: 'new', again: exists },
  { line: 'compact FILE --append', input: 'file', writes: 'session', again: nothingToDo },
  { line: 'handoff FILE', input: 'file' },
  { line: 'handoff FILE --to claude-code --out NEW', input: 'file', writes: 'new', again: exists },
  { line: `micro FILE ${now} --always`, input: 'file', computed: ['10'] },
  {
    line: `micro FILE ${now} --always --apply`,
    ...{ input: 'file', writes: 'session', again: nothingToDo, computed: ['10'] },
  },
  { line: 'edit snip FILE FIRST MIDDLE', input: 'file', writes: 'session', again: nothingToDo },
  { line: 'edit rewind FILE MIDDLE', input: 'file', writes: 'session' },
  { line: 'edit pin FILE FIRST', input: 'file', writes: 'session', again: nothingToDo },
  {
    line: 'edit unpin FILE FIRST',
    ...{ input: 'file', writes: 'session', after: ['edit pin FILE FIRST'], again: nothingToDo },
  },
  { line: 'undo FILE', input: 'file', writes: 'session', after: ['edit pin FILE FIRST'] },
  { line: 'repair FILE', input: 'file' },
  { line: 'repair FILE --out NEW', input: 'file', writes: 'new', again: exists },
  { line: 'copy FILE NEW', input: 'path', writes: 'new' },
  { line: 'prune FILE --days 30', input: 'path' },
  { line: 'mcp FILE', input: 'path', hasJson: false },
  { line: 'view FILE --no-open --out NEW', input: 'path', writes: 'new', again: exists, hasJson: false },
  { line: 'gateway report', input: 'none' },
  { line: 'gateway erase --tenant acme --user ann', input: 'none' },
  { line: 'gateway --port 0 --data NEW', input: 'none', writes: 'new' },
  { line: 'simulate --port 0', input: 'none' },
  { line: 'demo --fast', input: 'none', hasJson: false },
  { line: 'agent HOME --model demo -p hello', input: 'none', hasJson: false },
  { line: 'init HOME', input: 'none' },
  { line: 'install', input: 'none' },
  { line: 'install codex', input: 'none' },
  { line: 'uninstall codex', input: 'none' },
]

/** `edit snip` of `edit snip FILE …`: the words before the arguments and options. */
export function nameOf({ line }: CommandRow): string {
  return /^[a-z]+( report| erase| snip| rewind| pin| unpin)?/.exec(line)?.[0] ?? line
}

export type CommandPlace = {
  /** Contains everything that a command may read or write. */
  readonly folder: string
  readonly file: string
  readonly words: (line: string) => readonly string[]
  readonly run: (words: readonly string[], options?: RunOptions) => Promise<Ran>
  /** A new folder with the session, in which the rows that must come first have run. */
  readonly prepare: (row: CommandRow, bytes?: string) => Promise<void>
  /** Paths and contents of all files in the folder. */
  readonly contents: () => Readonly<Record<string, string>>
  readonly remove: () => void
}

const sample = sampleSession().map(serialize).join('')

export function commandPlace(): CommandPlace {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-command-'))
  const file = join(folder, 'sessions', 'session.jsonl')
  let uuids: readonly string[] = []
  const words = (line: string) => {
    const [first = '', ...rest] = uuids
    const values: Readonly<Record<string, string>> = {
      ...{ FILE: file, NEW: join(folder, 'new'), HOME: folder },
      ...{ FIRST: first, MIDDLE: rest[Math.floor(rest.length / 2)] ?? '', LAST: rest.at(-1) ?? '' },
    }
    return line.split(' ').map((word) => values[word] ?? word)
  }
  const run = (command: readonly string[], options: RunOptions = {}) => {
    const own = { HOME: folder, EVERLONG_HOME: join(folder, 'everlong'), COLUMNS: '80' }
    return everlong(command, { ...options, env: { ...own, ...options.env } })
  }
  return {
    ...{ folder, file, words, run },
    prepare: async ({ after = [] }, bytes = sample) => {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(join(folder, 'sessions'), { recursive: true })
      writeFileSync(file, bytes)
      uuids = readTranscript(file).view.messages.flatMap(({ uuid }) => uuid ?? [])
      for (const line of after) await run(words(line))
    },
    contents: () =>
      Object.fromEntries(
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'latin1')]),
      ),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
