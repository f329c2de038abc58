// A whole compaction but for the model, which answers at once with the same words for everybody. Ours has a line more:
// without any model.
import { countTokens, type ModelClient, offline, recorded } from 'everlong'
import type { ViewMessage } from 'everlong/internal'
import { createLedger, runCompaction } from 'everlong/internal/compaction'
import { summarizeWith } from '../peers/langchain.ts'
import { loadPi, piModel } from '../peers/pi.ts'
import { quietPorts } from '../quiet-ports.ts'
import type { Contest, Contestant } from './contest.ts'
import { conversation, inLangChain, inPi, view } from './conversations.ts'

// Nine sections as a model is asked for them, about the made-up session and partly wrong, so that there is something to
// verify.
const words = `<summary>
1. Primary request and intent:
- Keep the parcels sorted: index the nightly account, measure the nightly schedule, and leave the old behavior as it was.
- The user asked: "Close the empty ledger." and later wanted the strict catalog stored because the caller holds the lock.

2. Key technical concepts:
- TypeScript with a store that is read by key, JSON fixtures under \`docs/\`, limits that are counted per minute.

3. Files and code sections:
- /home/dev/pebble-service/src/harbour-50.ts: \`parseTicket\` reads \`session/97\`, \`indexChannel\` holds \`filterAfter: 2901\`.
- /home/dev/pebble-service/docs/signal-93.json: \`validateReport\` with id 79698, \`guardMeadow\` put in behind it.
- /home/dev/pebble-service/src/jobs/garden-a4.ts: written anew with \`renameStation\` and \`limitPacket\`.
- src/jobs/parcel-sorter.ts: \`sortParcelsByRoute\` is called from there with a limit of 4711.

4. Errors and fixes:
- The test of \`loadAccount\` failed with status 371 on the second run only; the fixture had a trailing space.
- A limit of 0 returned 8 from \`flushAll\`: left as it is, since another test covers it.

5. Problem solving:
- The log shows two requests where one was meant; the caller already holds the lock, so the value is read twice.

6. All user messages:
- "Close the empty ledger."

7. Pending tasks:
- Add the broken ledger; filter the recent window, where the order of the rows is not fixed.

8. Current work:
- \`src/api/signal-20.ts\` got the line \`limitStation: stale 5558\`; the tests of the service were run again after it.

9. Optional next step:
- Sort the steady window until the page loads without it. The user said "go ahead with the large schedule".
</summary>`

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
        const summarize = summarizeWith({ tokens: 1, answer: () => words })
        const list = inLangChain(size)
        return { run: () => summarize([...list]) }
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
          if (result.type === 'failed') throw new Error(`${result.reason}: ${result.why}`)
          // Words that are refused would measure a compaction without a model, twice.
          if (model.provider !== 'offline' && result.mechanism === 'offline') throw new Error('The words were refused.')
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
