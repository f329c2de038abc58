import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCompaction } from '../../core/compaction/run.ts'
import { noHooks } from '../../core/ports/hooks.ts'
import type { RestoreRequest } from '../../core/ports/restore.ts'
import { offline } from '../../models/offline.ts'
import { generateWithTruth } from '../../testing/session.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { compactionJobAt } from './compact-at.ts'
import { openSessionAt } from './session-at.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

function session() {
  const path = join(folders.next(), 'session.jsonl')
  const { records } = generateWithTruth({ seed: 8, turns: 14, boundaries: 0 })
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const opened = openSessionAt(path)
  if (opened.type === 'not-found') throw new Error(opened.uuid)
  return opened
}

test.for([1500, 3000, 6000])(
  'a plan is restored within a budget of %d, however much is missing beside it',
  async (budget) => {
    const asked: RestoreRequest[] = []
    const plan = { kind: 'plan', title: 'The plan', text: 'Open the door.', tokens: 12 }
    const missing = Array.from({ length: 12 }, (_, at) => ({
      kind: 'files',
      what: `/a/long/path/to/some/file/number/${at}.ts`,
      why: 'it has 9999 tokens, and 10 are left',
    }))
    const result = await runCompaction(
      {
        ...compactionJobAt(session(), { budget }),
        restore: async (request) => {
          asked.push(request)
          return { pieces: [plan], notRestored: missing, tokens: plan.tokens }
        },
      },
      {
        now: () => 0,
        newId: () => 'id',
        model: offline(),
        hooks: noHooks,
        files: { read: async () => ({ type: 'missing' }) },
        emit: () => undefined,
        wait: async () => undefined,
      },
    )
    if (result.type === 'failed') throw new Error(result.detail)
    expect(result.restored.pieces).toEqual([plan])
    expect(result.tokens.after).toBeLessThanOrEqual(budget)
    // Everything fits, so it is asked for once.
    expect(asked.map(({ without }) => without)).toEqual([['todos']])
  },
)
