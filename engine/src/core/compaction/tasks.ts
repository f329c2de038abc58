// The long, pure parts of a compaction, as functions from data to data. They give the same result in another thread.
import { type Failed, stopped } from '../ports/outcome.ts'
import type { Offloaded } from '../ports/ports.ts'
import { doInSlices, type Work } from '../text/slices.ts'
import { type Counting, createTextCounter } from '../tokens/estimate/counting.ts'
import { checking } from './check.ts'
import { type ComposeInput, composing, type Page } from './compose.ts'
import { type CompactionRun, readingLedger } from './history.ts'

export type PageTask = {
  readonly input: Omit<ComposeInput, 'countTokens'>
  readonly counting: Counting
  readonly tokens: number
}

export const tasks = {
  'read-ledger': readingLedger,
  'check-summary': checking,
  'compose-page': ({ input, counting, tokens }: PageTask): Work<Page | undefined> =>
    composing({ ...input, countTokens: createTextCounter(counting) }, tokens),
}

type Tasks = typeof tasks
export type TaskName = keyof Tasks
type InputOf<Name extends TaskName> = Parameters<Tasks[Name]>[0]
type ResultOf<Name extends TaskName> = ReturnType<Tasks[Name]> extends Work<infer Result> ? Result : never

/** Runs in another thread if the host has one. Otherwise, or if that fails, runs here in slices. Fails only when it is stopped. */
export async function perform<Name extends TaskName>(
  { ports, signal }: Pick<CompactionRun, 'ports' | 'signal'>,
  name: Name,
  input: InputOf<Name>,
): Promise<ResultOf<Name> | Failed> {
  const offloaded: Offloaded | undefined = isData(input) ? await ports.offload?.({ name, input }, signal) : undefined
  if (offloaded?.type === 'aborted') return stopped
  if (offloaded?.type === 'done') return offloaded.value as ResultOf<Name>
  if (offloaded?.why !== undefined) ports.emit({ type: 'worker-failed', task: name, problem: offloaded.why })
  return doInSlices(workOf(name, input), ports.pause)
}

/** The work of a task, by its name. */
export function workOf<Name extends TaskName>(name: Name, input: InputOf<Name>): Work<ResultOf<Name>> {
  const start = tasks[name] as unknown as (input: InputOf<Name>) => Work<ResultOf<Name>>
  return start(input)
}

/** A tokenizer of the host is a function, so it stays in this thread. */
function isData(input: InputOf<TaskName>): boolean {
  return !('counting' in input) || input.counting.tokenizer === undefined
}
