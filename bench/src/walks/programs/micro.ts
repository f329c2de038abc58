// A micro-compaction: old tool results are cleared from a session in memory, without a model.
import { createEngine, offline } from 'everlong'
import { fill } from './fill.ts'

const engine = createEngine({
  model: offline(),
  settings: { contextWindow: 200_000, reductions: { microCompact: 'always' } },
})
const session = await engine.start()
fill(session, { turns: 90, fileAt: (turn) => `src/file-${turn}.ts` })
const request = await session.prepare()
if (request.type === 'blocked') throw new Error(request.why)
if (request.compaction) throw new Error('It compacted.')
if (JSON.stringify(request.body).includes('value0x0')) throw new Error('Nothing was cleared.')
