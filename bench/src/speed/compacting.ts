// A whole compaction but for the model, which answers at once with the same words for everybody. Ours has a line more:
// without any model.
import { countTokens, createLedger, type ModelClient, runCompaction, type ViewMessage } from 'everlong'
import { offline, recorded } from 'everlong/models'
import { summariseWith } from '../peers/langchain.ts'
import { loadPi, piModel } from '../peers/pi.ts'
import { quietPorts } from '../quiet-ports.ts'
import type { Contest, Contestant } from './contest.ts'
import { conversation, inLangChain, inPi, view } from './conversations.ts'

const words = `<summary>\n1. Primary request and intent: to keep the parcels sorted.\n${'- Work went on. '.repeat(200)}\n</summary>`

const recordedWords = () => recorded({ summaries: () => words })

export const compacting: Contest = {
  name: 'compaction',
  what: 'A whole compaction, with a model that answers at once. Ours reads every message, keeps a ledger, and verifies.',
  contestants: [
    ours('Everlong, in a running session', { model: recordedWords, isRunning: true }),
    ours('Everlong, at first sight', { model: recordedWords }),
    ours('Everlong, at first sight, without a model', { model: offline }),
    {
      name: 'pi, prepareCompaction and compact',
      side: 'peer',
      ready: async (size) => {
        const { prepareCompaction, compact } = await loadPi()
        const model = await piModel(() => words)
        const entries = inPi(size)
        const settings = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 }
        return {
          run: async () => {
            const preparation = prepareCompaction(entries, settings)
            if (preparation === undefined) throw new Error('pi has nothing to compact.')
            return compact(preparation, model.ready(), 'none')
          },
        }
      },
    },
    {
      name: 'LangChain, summarizationMiddleware',
      side: 'peer',
      ready: (size) => {
        const summarise = summariseWith({ tokens: 1, answer: () => words })
        const list = inLangChain(size)
        return { run: () => summarise([...list]) }
      },
    },
  ],
}

type How = {
  readonly model: () => ModelClient
  /** Ledger and tokens are there: a session keeps them with every message that is added. */
  readonly isRunning?: boolean
}

function ours(name: string, { model: client, isRunning = false }: How): Contestant {
  return {
    name,
    side: 'ours',
    ready: (size) => {
      const { entries } = conversation(size)
      const { messages } = view(size)
      const records = new Map(entries.map(({ record }) => [String(record.uuid), record]))
      const model = client()
      const known = isRunning ? { ledger: ledgerOf(messages), viewTokens: countTokens(messages) } : {}
      return {
        run: async () => {
          const result = await runCompaction(
            {
              trigger: 'manual',
              reason: 'bench',
              view: view(size),
              recordOf: (uuid) => records.get(uuid),
              threshold: 0,
              sessionId: 'bench',
              ...known,
            },
            quietPorts({ model }),
          )
          if (result.type === 'failed') throw new Error(`${result.reason}: ${result.detail}`)
          return result.tokens.after
        },
      }
    },
  }
}

function ledgerOf(messages: readonly ViewMessage[]) {
  const book = createLedger()
  for (const message of messages) book.add(message)
  return book.ledger()
}
