// An automatic compaction with a model, in a session on disk. The files that the agent read are restored: `compaction.ts FOLDER`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelClient } from 'everlong'
import { createEngine } from 'everlong/node'
import { fill } from './fill.ts'

const [folder = ''] = process.argv.slice(2)
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
const written = 'The rounding in file-3.ts is the cause; file-7.ts repeats it.'
const text = `<summary>
1. Primary Request and Intent: The user wants the report fixed, without a change to schema.sql.
2. Key Technical Concepts: The report sums values that helpers compute.
3. Files and Code Sections: file-0.ts to file-11.ts export the values of one month each. All of them were read.
4. Errors and fixes: ${written} Nothing has been changed yet.
5. Pending Tasks: Round once, at the end of the report, and run the tests.
6. Current Work: Reading was finished.
7. Next Step: Change the rounding in file-3.ts.
</summary>`
const model: ModelClient = {
  provider: 'walk',
  capabilities: () => ({
    cacheEdits: false,
    contextManagement: false,
    compaction: 'none',
    promptCache: false,
    offline: false,
  }),
  model: 'claude-sonnet-4-6',
  send: async (request) => {
    const content = [{ type: 'text', text }]
    return { type: 'answer', id: 'msg_summary', model: request.model, content, stopReason: 'end_turn', usage }
  },
}

const engine = createEngine({ model, settings: { contextWindow: 40_000, autoCompactAt: 8_000, sessionMemory: false } })
const session = await engine.start({ path: join(folder, 'session.jsonl'), maxTokens: 4_000 })
fill(session, {
  turns: 12,
  fileAt: (turn, content) => {
    const path = join(folder, `file-${turn}.ts`)
    writeFileSync(path, content)
    return path
  },
})
const request = await session.prepare()
if (request.type === 'blocked') throw new Error(request.why)
const sent = JSON.stringify(request.body)
if (!sent.includes(written)) throw new Error('The context does not have the summary of the model.')
if (!sent.includes('export const value10x0')) throw new Error('No file was restored.')
await session.close()
