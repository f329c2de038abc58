// Background tasks: commands and sub-agents that run while the conversation continues. The tools TaskOutput and TaskStop read and
// end them; the conversation gets a message when one ends.
import { randomBytes } from 'node:crypto'
import type { Session } from 'everlong/node'
import { z } from 'zod'
import { type AnyTool, defineTool } from '../tool.ts'
import { failed } from './kit.ts'

export type BackgroundTask = {
  readonly id: string
  readonly title: string
  /** The output since the last call. */
  readonly take: () => string
  /** Its newest lines, for a person. Does not affect `take`. */
  readonly recent: () => readonly string[]
  readonly stop: () => Promise<void>
  /** How it ended, in a few words: `finished with exit code 0`. Never rejects. */
  readonly ended: Promise<string>
}

export type TaskInfo = { readonly id: string; readonly title: string; readonly isRunning: boolean }

export type Tasks = {
  readonly start: (task: BackgroundTask, session: Session) => void
  readonly list: () => readonly TaskInfo[]
  readonly find: (id: string) => FoundTask | undefined
  /** Offers to move a foreground call to the background. Returns a function that withdraws the offer. */
  readonly offer: (move: () => void) => () => void
  /** Moves all of them to the background. Returns their number. */
  readonly moveAll: () => number
  readonly stopAll: () => Promise<void>
}

export type FoundTask = BackgroundTask & {
  readonly startedAt: number
  /** Undefined while it runs. */
  readonly outcome: () => string | undefined
}

type Held = { readonly task: BackgroundTask; readonly startedAt: number; outcome?: string }

export function newTaskId(kind: 'bash' | 'agent'): string {
  return `${kind}_${randomBytes(4).toString('hex')}`
}

export type TasksOptions = {
  readonly onChange: () => void
  /** Tells the model of a session that one of its tasks has ended. */
  readonly notifyModel: (notification: string, session: Session) => void
  /** Called with one line for the person when a task has ended by itself. */
  readonly onTaskEnded?: ((line: string) => void) | undefined
}

export function createTasks({ onChange, notifyModel: tell, onTaskEnded }: TasksOptions): Tasks {
  const held = new Map<string, Held>()
  const movable = new Set<() => void>()
  let isClosed = false
  return {
    start: (task, session) => {
      const own: Held = { task, startedAt: Date.now() }
      held.set(task.id, own)
      onChange()
      void task.ended.then((how) => {
        own.outcome = how
        onChange()
        if (isClosed) return
        onTaskEnded?.(`The background task "${task.title}" has ${how}.`)
        tellSafely(() => tell(notification(task, how), session))
      })
    },
    list: () =>
      [...held.values()].map(({ task, outcome }) => ({
        id: task.id,
        title: task.title,
        isRunning: outcome === undefined,
      })),
    find: (id) => {
      const own = held.get(id)
      return own && { ...own.task, startedAt: own.startedAt, outcome: () => own.outcome }
    },
    offer: (move) => {
      movable.add(move)
      return () => void movable.delete(move)
    },
    moveAll: () => {
      const moved = [...movable]
      movable.clear()
      for (const move of moved) move()
      return moved.length
    },
    stopAll: async () => {
      isClosed = true
      await Promise.all(
        [...held.values()].filter(({ outcome }) => outcome === undefined).map(({ task }) => task.stop()),
      )
    },
  }
}

/** The session may be closed by now, and then nobody is left to inform. */
function tellSafely(tell: () => void): void {
  try {
    tell()
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
}

function notification({ id, title }: BackgroundTask, how: string): string {
  return `<task-notification>\n<task-id>${id}</task-id>\n<status>${how}</status>\n<summary>The background task "${title.replaceAll(/[<>]/g, '')}" has ${how}. Call TaskOutput for its output.</summary>\n</task-notification>`
}

export function taskTools(tasks: Tasks): readonly AnyTool[] {
  const task_id = z.string().describe('The id that the call which started the task returned.')
  const unknown = (id: string) => {
    const known = tasks.list().map((task) => `${task.id} (${task.title})`)
    return failed(
      `There is no background task ${id}. ${known.length === 0 ? 'None was started.' : `Known: ${known.join(', ')}.`}`,
    )
  }
  const output = defineTool({
    name: 'TaskOutput',
    description: 'Returns what a background task has put out since you last asked, and whether it still runs.',
    input: z.object({
      task_id,
      block: z.boolean().optional().describe('Wait until the task ends.'),
      timeout: z.int().min(0).max(600_000).optional().describe('How long to wait, in milliseconds. Default: 30,000.'),
    }),
    isParallel: true,
    run: async ({ task_id: id, block = false, timeout = 30_000 }, { signal }) => {
      const task = tasks.find(id)
      if (!task) return unknown(id)
      if (block) await endOrTimeout(task, timeout, signal)
      const text = task.take()
      const state = task.outcome() ?? 'running'
      return `Task ${id}: ${state}.\n${text === '' ? '(no new output)' : text}`
    },
  })
  const stop = defineTool({
    name: 'TaskStop',
    description: 'Ends a background task.',
    input: z.object({ task_id }),
    run: async ({ task_id: id }) => {
      const task = tasks.find(id)
      if (!task) return unknown(id)
      if (task.outcome() !== undefined) return `Task ${id} has already ${task.outcome()}.`
      await task.stop()
      return `Stopped task ${id} (${task.title}).`
    },
  })
  return [output, stop]
}

async function endOrTimeout({ ended }: BackgroundTask, timeout: number, signal: AbortSignal): Promise<void> {
  const stop = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeout)
  signal.addEventListener('abort', () => resolve(), { signal: stop.signal })
  await Promise.race([ended, promise])
  clearTimeout(timer)
  stop.abort()
}
