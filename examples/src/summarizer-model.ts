// Summaries by a cheaper model than the conversation's. Its own window is respected: a history that does not fit is
// summarized in parts.
import { anthropic } from 'everlong/anthropic'
import { createEngine } from 'everlong/node'

const engine = createEngine({
  model: anthropic({ model: 'claude-opus-5' }),
  settings: { summary: { model: 'claude-haiku-4-5', summaryTokens: 2_000 } },
})
const session = await engine.start({ system: 'You plan migrations.', maxTokens: 1_000 })
const log = 'select * from orders where year = 2019 took 4.1 s\n'.repeat(100)
for (const content of [`How do we split the orders table?\n${log}`, 'Which part first?', 'What can go wrong?']) {
  session.add({ role: 'user', content })
  const turn = await session.send() // prepares, sends, recovers from an overflow, records
  if (turn.type !== 'answered') throw new Error(turn.type === 'failed' ? turn.failure.message : turn.why)
}
const result = await session.compact({ instructions: 'Keep every decision with its reason.' })
console.log(`${result.type}: ${session.messages().length} messages left`)
for (const [purpose, { requests, cost }] of Object.entries(session.spent())) {
  if (requests > 0) console.log(`${purpose}: ${requests} requests, $${cost?.toFixed(4) ?? 'unknown'}`)
}
await session.close()
