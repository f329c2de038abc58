// The code of compactions is loaded with the first one: bundlers put it into a file of its own, and a conversation that
// never compacts never downloads it.
import type { MechanismContext, Outcome, RunningMechanism } from '../mechanisms/mechanism.ts'
import { errorText } from '../ports/guarded.ts'
import { failed } from '../ports/outcome.ts'

type CompactionCode = typeof import('./compaction-code.ts')

export function loadCompaction(): Promise<CompactionCode> {
  return import('./compaction-code.ts')
}

/** A mechanism whose code is loaded when it first runs. It fails if that is impossible, for example without a network. */
export function loadedMechanism(
  name: string,
  run: (code: CompactionCode, context: MechanismContext) => Promise<Outcome>,
): RunningMechanism {
  return {
    name,
    run: async (context) => {
      const code = await loadCompaction().catch(errorText)
      if (typeof code !== 'string') return run(code, context)
      return failed('no-summary', `Its code could not be loaded: ${code}`)
    },
  }
}
