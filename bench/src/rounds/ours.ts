// Everlong in the rounds: the compaction procedure itself, and the archive for recall.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Message, type ModelClient, offline, recorded } from 'everlong'
import { createFold, type JsonObject, repairRequest } from 'everlong/internal'
import { runCompaction } from 'everlong/internal/compaction'
import { serialize } from 'everlong/internal/testing'
import { openArchive } from 'everlong/node'
import { quietPorts } from '../quiet-ports.ts'
import { type Contender, type Keeper, threshold } from './contender.ts'
import { summaryOf } from './summarize.ts'

export const oursOffline: Contender = {
  name: 'Everlong, without a model',
  how: 'runCompaction with the offline client',
  open: () => keeper(offline()),
}

export const oursWithModel: Contender = {
  name: 'Everlong, with the summarizer',
  how: 'runCompaction with the summarizer as its model',
  open: () => keeper(summarizing()),
}

export function summarizing(): ModelClient {
  const client = recorded({ summaries: () => undefined })
  return {
    ...client,
    provider: 'simulated',
    send: async (request, options) => {
      if (request.source !== 'compact') return client.send(request, options)
      const text = await summaryOf(request.messages)
      return recorded({ summaries: [text] }).send(request, options)
    },
  }
}

function keeper(model: ModelClient): Keeper {
  const fold = createFold()
  const records: JsonObject[] = []
  let [ids, time] = [0, Date.UTC(2026, 2, 2)]
  let last: string | null = null
  const put = (record: JsonObject) => {
    records.push(record)
    fold.add({ record, position: { line: records.length, offset: records.length, length: 1, nth: 0 } })
    if (typeof record.uuid === 'string') last = record.uuid
  }
  const add = (messages: readonly Message[]) => {
    for (const message of messages) {
      time += 1_000
      put(recordOf(message, { uuid: `r${++ids}`, parentUuid: last, time }))
    }
  }
  const clock = () => {
    time += 7
    return time
  }
  const ports = quietPorts({ model, now: clock, newId: () => `c${++ids}` })
  return {
    add,
    context: () => repairRequest(fold.view().messages).messages,
    compact: async () => {
      const result = await runCompaction(
        {
          trigger: 'auto',
          reason: 'threshold',
          view: fold.view(),
          recordOf: (uuid) => fold.entry(uuid)?.record,
          sessionId: 'rounds',
          ...(last === null ? {} : { lastUuid: last }),
          recall: true,
          threshold,
        },
        ports,
      )
      if (result.type === 'failed') throw new Error(`${result.reason}: ${result.why}`)
      for (const record of result.records) put(record)
      return result.summary
    },
    recall: (questions) => foundFor(records, questions),
  }
}

/** What the archive finds in the file that the records would be: the ten best, whole. */
function foundFor(records: readonly JsonObject[], questions: readonly string[]): readonly (readonly string[])[] {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-rounds-'))
  try {
    const path = join(folder, 'session.jsonl')
    writeFileSync(path, records.map(serialize).join(''))
    const archive = openArchive(path, { folder })
    const found = questions.map((words) =>
      archive
        .search({ words, limit: 10 })
        // Of a call that was found, its result is read by the id on its card.
        .matches.flatMap(({ id, toolUseId }) => [id, ...(toolUseId === undefined ? [] : [toolUseId])])
        .map((id) => JSON.stringify(archive.read(id))),
    )
    archive.close()
    return found
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Placed = { readonly uuid: string; readonly parentUuid: string | null; readonly time: number }

function recordOf({ role, content }: Message, { uuid, parentUuid, time }: Placed): JsonObject {
  const message =
    role === 'assistant'
      ? { id: `msg_${uuid}`, type: 'message', role, model: 'claude-sonnet-4-5', content, stop_reason: 'end_turn' }
      : { role, content }
  const place = {
    uuid,
    parentUuid,
    sessionId: 'rounds',
    cwd: '/home/dev/shop',
    isSidechain: false,
    userType: 'external',
  }
  return { type: role, ...place, timestamp: new Date(time).toISOString(), message }
}
