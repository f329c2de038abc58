// The speed of the demonstration: for a reading person, or as fast as possible. A stop ends every wait at once.
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
      // Stopping is not a failure; the caller checks the signal.
      await sleep(milliseconds[moment], undefined, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    },
  }
}
