// Before anything happens: what the numbers are and where they come from, and what a compaction would do.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { offline } from 'everlong'
import { createEngine } from 'everlong/node'

const path = join(mkdtempSync(join(tmpdir(), 'dry-run-')), 'session.jsonl')
const engine = createEngine({ model: offline(), settings: { contextWindow: 60_000, autoCompactAt: '60%' } })
const session = await engine.start({ path })
for (let turn = 1; turn <= 6; turn++) {
  session.add({ role: 'user', content: `Question ${turn}: why is step ${turn} slow?` })
  const content = `Because of this: ${'it reads the whole file again. '.repeat(400)}`
  session.record({ content, usage: { input_tokens: turn * 2_950 - 2_930, output_tokens: 2_930 } })
}

const { contextWindow, effectiveWindow, autoCompactThreshold, size, percentLeft, state } = session.explain()
console.log(`window ${contextWindow.value} (${contextWindow.source}), usable ${effectiveWindow.value}`)
console.log(`compacts at ${autoCompactThreshold.value} (${autoCompactThreshold.source})`)
console.log(`now ${size.tokens} tokens, ${percentLeft} % left: ${state}`)

const plan = await (await engine.read(path)).plan()
if (plan.type !== 'planned') throw new Error(plan.why)
const { before, summarized, kept, limit } = plan.tokens
console.log(`a compaction would summarize ${summarized} of ${before} tokens, keep ${kept}, and leave at most ${limit}`)
console.log(`ways to a summary, in order: ${plan.mechanisms.join(', ')}`)
console.log(`messages, unchanged: ${session.messages().length}`)
await session.close()
