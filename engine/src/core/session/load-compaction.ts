// The code of compactions is loaded with the first one: bundlers put it into a file of its own, and a conversation that
// never compacts never downloads it.
import type { RunningMechanism } from '../mechanisms/mechanism.ts'
import { errorText } from '../ports/guarded.ts'

type CompactionCode = typeof import('./compaction-code.ts')

export function loadCompaction(): Promise<CompactionCode> {
  return import('./compaction-code.ts')
}

/** A mechanism that is made when it first runs. It fails if its code cannot be loaded, for example without a network. */
export function loadedMechanism(name: string, make: (code: CompactionCode) => RunningMechanism): RunningMechanism {
  return {
    name,
    run: async (context) => {
      const loaded = await loadCompaction().catch(errorText)
      if (typeof loaded !== 'string') return make(loaded).run(context)
      return { type: 'failed', reason: 'no_summary', why: `Its code could not be loaded: ${loaded}` }
    },
  }
}
