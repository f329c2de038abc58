// The plug-in as opencode loads it: every export is taken for a plug-in, so there is one. Nothing here may throw: opencode
// would end the session.
import { objectAt, stringAt } from 'everlong/internal'
import { countGivenBack } from 'everlong/internal/node'
import { givenBackLine } from '../../shared/given-back.ts'
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
  const copies = createCopies(input, dataFolder(isRepository(input) ? input.worktree : input.directory, process.env))
  const recall = createRecall(copies)
  // Read when they are needed: while plug-ins are loaded, opencode takes no log.
  let settings: Promise<Settings> | undefined
  const settled = () => {
    settings ??= guarded((): Settings => readSettings(options, process.env), { largeResults: undefined })
    return settings
  }
  const show = async (message: string | undefined) => {
    if (message !== undefined) await client.tui.showToast({ body: { message, variant: 'info', duration: toastMs } })
  }
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
        const text = withLost({ messageID, text: output.text }, messages, copies.pathOf(sessionID))
        const given = countGivenBack(text.slice(output.text.length))
        await guarded(() => show(givenBackLine(given, 'see the end of the summary')), undefined)
        return text
      }, output.text)
    },
    'tool.execute.after': async ({ tool, sessionID, callID }, result) => {
      const { largeResults } = await settled()
      const { output } = result
      // Results of MCP servers have another shape.
      if (largeResults === undefined || tool === 'recall' || typeof output !== 'string') return
      if (output.length <= largeResults) return
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

/** Long enough to read one line. */
const toastMs = 8_000

function sessionIn(properties: unknown): string | undefined {
  return stringAt(objectAt(properties, 'info'), 'id') ?? stringAt(properties, 'sessionID')
}

/** Errors are written to opencode's log, and the session continues as if the plug-in did not exist. */
function guardWith(client: PluginInput['client']) {
  return async <T>(run: () => T | Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      const message = `everlong: ${error instanceof Error ? error.message : String(error)}`
      // Nobody waits for the log, and it may be what fails.
      client.app.log({ body: { service: 'everlong', level: 'error', message } }).catch(() => undefined)
      return otherwise
    }
  }
}
