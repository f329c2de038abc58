// compact: the agent asks for a compaction of its own conversation. A sub-agent asks for one of its own.
import { compactTool } from 'everlong/node'
import type { AnyTool } from '../tool.ts'

/** Only the name and the description: which session it is about is known with each call. */
const { name, description, input_schema } = compactTool({
  scheduleCompaction: () => ({ isScheduled: false, why: 'There is no session.' }),
})

export function ownCompactTool(): AnyTool {
  return {
    name,
    description,
    isParallel: false,
    definition: { name, description, input_schema },
    call: async (input, { session }) => {
      const { text, isError } = compactTool(session).run(input)
      return { content: text, ...(isError ? { isError } : {}) }
    },
  }
}
