// How fast the demonstration goes: as a person reads, or as fast as it can. A wait ends at once when it is stopped.
import { setTimeout as sleep } from 'node:timers/promises'

export type Moment = 'letter' | 'person' | 'call' | 'answer' | 'act'

export type Pace = {
  readonly isSlow: boolean
  readonly after: (moment: Moment) => Promise<void>
}

const milliseconds: Readonly<Record<Moment, number>> = { letter: 14, person: 600, call: 250, answer: 400, act: 2_200 }

export function createPace(isSlow: boolean, signal: AbortSignal): Pace {
  return {
    isSlow,
    after: async (moment) => {
      if (!isSlow || signal.aborted) return
      // Stopping is no failure: whoever waited sees the signal.
      await sleep(milliseconds[moment], undefined, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    },
  }
}
