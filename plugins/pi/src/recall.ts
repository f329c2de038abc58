// The recall tool: search and read everything that was ever said in the sessions of this project, also what was compacted
// away. It opens its index when it is first used and reads nothing but pi's session files.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Archive, createRecallTool, openArchive } from 'everlong/node'
import type { Context, Tool } from './pi-api.ts'

export const recallName = 'recall'

export type Recall = {
  readonly tool: Tool
  readonly search: (words: string, context: Context) => string
  readonly close: () => void
}

const unsaved = 'This session is not saved (--no-session), so there is nothing to search.'

/** In pi's own folder, where `everlong uninstall pi` finds it. */
function indexFolder(env: NodeJS.ProcessEnv): string {
  const given = env.PI_CODING_AGENT_DIR?.replace(/^~(?=\/|$)/, homedir())
  return join(given || join(homedir(), '.pi', 'agent'), 'everlong')
}

export function createRecall(): Recall {
  let folder = ''
  let archive: Archive | undefined
  const close = () => {
    archive?.close()
    archive = undefined
  }
  const tool = createRecallTool({
    archive: () => {
      archive ??= openArchive(folder, { folder: indexFolder(process.env), budgetMs: 0 })
      return archive
    },
  })
  const run = (input: unknown, { sessionManager }: Context) => {
    if (sessionManager.getSessionFile() === undefined) return { text: unsaved, isError: true }
    if (folder !== sessionManager.getSessionDir()) close()
    folder = sessionManager.getSessionDir()
    return tool.run(input)
  }
  return {
    tool: {
      name: recallName,
      label: 'Recall',
      description: tool.description,
      promptSnippet: 'Search and read everything said or read earlier in this project, also before a compaction',
      parameters: tool.input_schema,
      execute: async (...[, input, , , context]) => {
        const { text, isError } = run(input, context)
        return { content: [{ type: 'text', text }], details: {}, ...(isError ? { isError } : {}) }
      },
    },
    search: (words, context) => run({ query: words }, context).text,
    close,
  }
}
