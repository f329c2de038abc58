// compact: the agent requests a compaction of its own conversation. A sub-agent requests one of its own.
import { compactTool } from 'everlong/node'
import type { AnyTool } from '../tool.ts'

/** Only for the name and the description. Each call says which session it is about. */
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
