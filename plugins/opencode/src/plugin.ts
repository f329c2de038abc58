// The plug-in as opencode loads it: every export is taken for a plug-in, so there is one. Nothing here may throw: opencode
// would end the session.
import { stringAt } from 'everlong/transcript'
import { summaryInstructions } from '../../shared/instructions.ts'
import { createCopies, isRepository } from './copies.ts'
import { shortened } from './large-results.ts'
import { withLost } from './lost.ts'
import type { Hooks, PluginInput } from './opencode-api.ts'
import { createRecall } from './recall.ts'
import { dataFolder, readSettings, type Settings } from './settings.ts'

export async function Everlong(input: PluginInput, options?: unknown): Promise<Hooks> {
  const { client } = input
  const guarded = guardWith(client)
  const settings = await guarded((): Settings => readSettings(options, process.env), { largeResults: undefined })
  const copies = createCopies(input, dataFolder(isRepository(input) ? input.worktree : input.directory, process.env))
  const recall = createRecall(copies)
  /** Sessions whose summary is being written. */
  const compacting = new Set<string>()
  return {
    'experimental.session.compacting': async ({ sessionID }, { context }) => {
      compacting.add(sessionID)
      context.push(summaryInstructions)
    },
    'experimental.text.complete': async ({ sessionID, messageID }, output) => {
      if (!compacting.delete(sessionID)) return
      output.text = await guarded(async () => {
        const { data: messages = [] } = await client.session.messages({ path: { id: sessionID } })
        return withLost({ messageID, text: output.text }, messages, copies.pathOf(sessionID))
      }, output.text)
    },
    'tool.execute.after': async ({ tool, sessionID, callID }, result) => {
      const { largeResults } = settings
      if (largeResults === undefined || tool === 'recall' || result.output.length <= largeResults) return
      const { output } = result
      const large = { callID, output, transcript: copies.pathOf(sessionID) }
      result.output = await guarded(() => shortened(large, largeResults), output)
    },
    event: async ({ event }) => {
      const deleted = event.type === 'session.deleted' ? sessionIn(event.properties) : undefined
      if (deleted !== undefined) await guarded(() => copies.remove(deleted), undefined)
    },
    dispose: async () => recall.close(),
    tool: { recall: recall.tool },
  }
}

function sessionIn(properties: unknown): string | undefined {
  const { info, sessionID } = (properties ?? {}) as { readonly info?: unknown; readonly sessionID?: unknown }
  return stringAt(info, 'id') ?? (typeof sessionID === 'string' ? sessionID : undefined)
}

/** What fails is written to opencode's log, and the session goes on as if the plug-in were not there. */
function guardWith(client: PluginInput['client']) {
  return async <T>(run: () => T | Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // The log may be what fails.
      await client.app.log({ body: { service: 'everlong', level: 'error', message } }).catch(() => undefined)
      return otherwise
    }
  }
}
