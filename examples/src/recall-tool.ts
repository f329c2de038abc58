// A recall tool for the agent: it finds the exact words that a compaction removed from the context.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anthropic } from 'everlong/anthropic'
import { createEngine, createRecallTool, openArchive } from 'everlong/node'

const folder = mkdtempSync(join(tmpdir(), 'recall-'))
const recall = createRecallTool({ archive: openArchive(folder) }) // this session, and any other in the folder
const engine = createEngine({ model: anthropic({ model: 'claude-sonnet-4-6' }), settings: { recall: true } })
const session = await engine.start({ path: join(folder, 'session.jsonl'), tools: [recall], maxTokens: 1_000 })

session.add({ role: 'user', content: 'The build prints: error E4711 in step 9, checksum 0x5f3a99.' })
session.record({ content: `I look into it. ${'This may take a while. '.repeat(300)}` })
await session.compact()
session.add({ role: 'user', content: 'What exactly was the checksum of error E4711?' })

for (;;) {
  const turn = await session.send()
  if (turn.type !== 'answered') throw new Error(turn.type === 'failed' ? turn.failure.message : turn.why)
  const calls = turn.answer.content.filter((block) => block.type === 'tool_use')
  if (calls.length === 0) break
  const results = calls.map(({ id, input }) => {
    const { text, isError } = recall.run(input)
    console.log(`recalled: ${text.includes('0x5f3a99')}`)
    return { type: 'tool_result' as const, tool_use_id: id, content: text, is_error: isError }
  })
  session.add({ role: 'user', content: results })
}
console.log(JSON.stringify(session.messages().at(-1)?.content))
await session.close()
