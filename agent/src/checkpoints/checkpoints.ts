// Saves the files before each prompt of a session, so that /rewind can restore them. Each checkpoint is one line in the session's
// folder.
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject, numberAt, stringAt } from 'everlong/internal'
import { sessionFolder } from 'everlong/internal/node'
import { reasonOf } from '../reason-of.ts'
import { createShadow, type FileChange, type Shadow } from './shadow.ts'

export type Checkpoint = {
  /** Time of the prompt, in milliseconds since 1970. */
  readonly time: number
  readonly tree: string
  readonly skipped: readonly string[]
  /** Set if it was saved before a rewind instead of a prompt. */
  readonly rewind?: Rewind
}

/** A rewind that restored files. */
export type Rewind = {
  readonly what: 'both' | 'files'
  /** The newest change of the conversation when the files were restored. With `both`, the rewind of the conversation itself. */
  readonly change: string | undefined
}

export type Checkpoints = {
  /** Saves the current files. Reports once if that is not possible. */
  readonly take: () => Promise<void>
  /** The newest one at or before this time. */
  readonly before: (time: number) => Promise<Checkpoint | undefined>
  /** Changes since the checkpoint. */
  readonly changesSince: (checkpoint: Checkpoint) => Promise<readonly FileChange[]>
  /** Saves the current files, then restores those of the checkpoint. */
  readonly restore: (checkpoint: Checkpoint, rewind: Rewind) => Promise<readonly FileChange[]>
  /** The newest rewind after the last prompt that was not undone. */
  readonly lastRewind: () => Promise<Rewind | undefined>
  /** Restores the files from before that rewind. */
  readonly undoRewind: () => Promise<readonly FileChange[]>
}

export type CheckpointsOptions = {
  readonly folder: string
  /** The transcript of the session. */
  readonly path: string
  readonly notify: (text: string) => void
  readonly now?: () => number
}

export function createCheckpoints({ folder, path, notify, now = Date.now }: CheckpointsOptions): Checkpoints {
  const file = checkpointsFile(path)
  const repository = join(dirname(path), 'checkpoints.git')
  const shadow: Shadow = createShadow({
    folder: realpathSync(folder),
    repository,
    index: join(sessionFolder(path), 'checkpoints.index'),
  })
  let isOff = false
  /** Saves must not overlap: they share an index. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
  const add = (line: Checkpoint | UndoneRewind) => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
  }
  return {
    take: () => {
      const at = now()
      return inTurn(async () => {
        if (isOff) return
        try {
          add({ time: at, ...(await shadow.save()) })
        } catch (error) {
          isOff = true
          notify(`/rewind cannot give files back in this session: ${reasonOf(error)}`)
        }
      })
    },
    before: (when) => inTurn(async () => read(file).findLast((each) => !each.rewind && each.time <= when)),
    changesSince: ({ tree }) => inTurn(async () => shadow.compare(tree, (await shadow.save()).tree)),
    restore: ({ tree: to }, rewind) =>
      inTurn(async () => {
        const { tree, skipped } = await shadow.save()
        add({ time: now(), tree, skipped, rewind })
        return shadow.restore(tree, to)
      }),
    lastRewind: () => inTurn(async () => newestRewind(file)?.rewind),
    undoRewind: () =>
      inTurn(async () => {
        const newest = newestRewind(file)
        if (!newest) return []
        const changes = await shadow.restore((await shadow.save()).tree, newest.tree)
        add({ undone: newest.time })
        return changes
      }),
  }
}

function checkpointsFile(path: string): string {
  return join(sessionFolder(path), 'checkpoints.jsonl')
}

/** A copy of a session can be rewound as far as the original. */
export function copyCheckpoints(from: string, to: string): void {
  if (!existsSync(checkpointsFile(from))) return
  mkdirSync(sessionFolder(to), { recursive: true, mode: 0o700 })
  copyFileSync(checkpointsFile(from), checkpointsFile(to))
}

/** The rewind at this time was undone. */
type UndoneRewind = { readonly undone: number }

/** Older rewinds are not undone, because the files have changed for other reasons since. */
function newestRewind(file: string): Checkpoint | undefined {
  const lines = linesIn(file)
  const since = lines.slice(lines.findLastIndex((line) => 'tree' in line && !line.rewind) + 1)
  const undone = new Set(since.map((line) => ('undone' in line ? line.undone : undefined)))
  return since.filter((line) => 'tree' in line).findLast(({ time }) => !undone.has(time))
}

function read(file: string): readonly Checkpoint[] {
  return linesIn(file).filter((line) => 'tree' in line)
}

function linesIn(file: string): readonly (Checkpoint | UndoneRewind)[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => lineIn(line))
}

function lineIn(line: string): readonly (Checkpoint | UndoneRewind)[] {
  try {
    const value: unknown = JSON.parse(line)
    const [time, tree, undone] = [numberAt(value, 'time'), stringAt(value, 'tree'), numberAt(value, 'undone')]
    if (undone !== undefined) return [{ undone }]
    if (!isObject(value) || time === undefined || !/^[0-9a-f]{40,64}$/.test(tree ?? '')) return []
    const skipped = Array.isArray(value.skipped) ? value.skipped.map(String) : []
    return [{ time, tree: tree ?? '', skipped, ...rewindIn(value.rewind) }]
  } catch {
    // An incomplete line after a crash.
    return []
  }
}

function rewindIn(value: unknown): Pick<Checkpoint, 'rewind'> {
  if (!isObject(value)) return {}
  return { rewind: { what: value.what === 'files' ? 'files' : 'both', change: stringAt(value, 'change') } }
}
