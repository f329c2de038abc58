// Time and chance for model clients under test: waits are noted and over at once; only the watch over silent streams
// (five minutes) truly waits, until it is called off.
import type { ModelPorts } from 'everlong/internal'

export type StillPorts = ModelPorts & { readonly waits: readonly number[] }

const silence = 300_000

export function stillPorts(): StillPorts {
  const waits: number[] = []
  let now = 0
  return {
    waits,
    now: () => now,
    random: () => 0,
    wait: async (milliseconds, signal) => {
      if (milliseconds >= silence) return calledOff(signal)
      waits.push(milliseconds)
      now += milliseconds
    },
  }
}

function calledOff(signal: Parameters<ModelPorts['wait']>[1]): Promise<void> {
  return new Promise((done) => signal?.addEventListener('abort', done, { once: true }))
}
