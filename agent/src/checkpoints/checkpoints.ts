// The files as they were before each prompt of a session, so that /rewind can give them back. What was kept is one line in the
// session's folder for each prompt.
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject, numberAt, stringAt } from 'everlong/internal'
import { sessionFolder } from 'everlong/internal/node'
import { reasonOf } from '../reason-of.ts'
import { createShadow, type FileChange, type Shadow } from './shadow.ts'

export type Checkpoint = {
  /** When the prompt came, in milliseconds since 1970. */
  readonly time: number
  readonly tree: string
  readonly skipped: readonly string[]
  /** Before a rewind, not before a prompt. */
  readonly isRewind?: boolean
}

export type Checkpoints = {
  /** Keeps the files as they are. Says why not, once, if that is not possible. */
  readonly take: () => Promise<void>
  /** The newest one at or before this time. */
  readonly before: (time: number) => Checkpoint | undefined
  /** What has changed since. */
  readonly changesSince: (checkpoint: Checkpoint) => Promise<readonly FileChange[]>
  /** Keeps the files as they are, and gives back those of the checkpoint. */
  readonly restore: (checkpoint: Checkpoint) => Promise<readonly FileChange[]>
  /** Gives back the files from before the last rewind. Undefined if none changed files. */
  readonly undoRewind: () => Promise<readonly FileChange[] | undefined>
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
  const add = (checkpoint: Checkpoint) => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, `${JSON.stringify(checkpoint)}\n`, { mode: 0o600 })
  }
  const restore = async (to: Checkpoint, isRewind: boolean) => {
    const { tree, skipped } = await shadow.save()
    if (isRewind) add({ time: now(), tree, skipped, isRewind })
    return shadow.restore(tree, to.tree)
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
    before: (when) => read(file).findLast((each) => !each.isRewind && each.time <= when),
    changesSince: ({ tree }) => inTurn(async () => shadow.compare(tree, (await shadow.save()).tree)),
    restore: (checkpoint) => inTurn(() => restore(checkpoint, true)),
    undoRewind: () =>
      inTurn(async () => {
        const newest = read(file).at(-1)
        return newest?.isRewind ? restore(newest, false) : undefined
      }),
  }
}

function checkpointsFile(path: string): string {
  return join(sessionFolder(path), 'checkpoints.jsonl')
}

/** A copy of a session can go back as far as the original. */
export function copyCheckpoints(from: string, to: string): void {
  if (!existsSync(checkpointsFile(from))) return
  mkdirSync(sessionFolder(to), { recursive: true, mode: 0o700 })
  copyFileSync(checkpointsFile(from), checkpointsFile(to))
}

function read(file: string): readonly Checkpoint[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => checkpointIn(line))
}

function checkpointIn(line: string): readonly Checkpoint[] {
  try {
    const value: unknown = JSON.parse(line)
    const [time, tree] = [numberAt(value, 'time'), stringAt(value, 'tree')]
    if (!isObject(value) || time === undefined || !/^[0-9a-f]{40,64}$/.test(tree ?? '')) return []
    const skipped = Array.isArray(value.skipped) ? value.skipped.map(String) : []
    return [{ time, tree: tree ?? '', skipped, ...(value.isRewind === true ? { isRewind: true } : {}) }]
  } catch {
    // Half a line, after a crash.
    return []
  }
}
