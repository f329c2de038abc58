// Holds one contest at one size in a process of its own. Who grows more steeply than the sizes before foretold would keep
// everybody waiting: then the race is held again without that one.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { patience, type Times } from './contest.ts'

export type Race = {
  readonly contest: string
  readonly size: number
  /** Names of the contestants. */
  readonly starting: readonly string[]
}

/** Milliseconds for one turn, by the clock: other work on the machine does not put anybody out. */
const maxTurn = patience * 10

export async function raceApart(race: Race): Promise<Times> {
  const outcome = await raced(race)
  if (outcome.times) return outcome.times
  const starting = race.starting.filter((name) => name !== outcome.stuck)
  if (starting.length === race.starting.length) throw new Error(`${JSON.stringify(race)} ended with ${outcome.status}.`)
  return raceApart({ ...race, starting })
}

type Told = { readonly turn?: string } | { readonly times: readonly (readonly [string, number])[] }
type Outcome = { readonly times?: Times; readonly stuck?: string; readonly status?: unknown }

async function raced(race: Race): Promise<Outcome> {
  const child = fork(join(import.meta.dirname, 'one-race.ts'), [JSON.stringify(race)])
  let outcome: Outcome = {}
  let timer: NodeJS.Timeout | undefined
  const putOut = (stuck: string) => {
    outcome = { stuck }
    child.kill()
  }
  child.on('message', (told: Told) => {
    clearTimeout(timer)
    if ('times' in told) outcome = { times: new Map(told.times) }
    else if (told.turn !== undefined) timer = setTimeout(putOut, maxTurn, told.turn)
  })
  const [status] = await once(child, 'exit')
  clearTimeout(timer)
  return { status, ...outcome }
}
