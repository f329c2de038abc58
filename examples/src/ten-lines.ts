// The ten lines a newcomer starts with: a session that stays inside its window. Run it: node examples/src/ten-lines.ts
import { offline } from 'everlong'
import { createEngine } from 'everlong/node'

export async function main(say: (line: string) => void = console.log): Promise<void> {
  const engine = createEngine({ model: offline() }) // or anthropic({ model: 'claude-…' })
  const session = await engine.start() // start({ path }) keeps it in a file, open(path) continues one
  session.add({ role: 'user', content: 'Plan the migration. Never drop the table orders_2019.' })
  const request = await session.prepare() // reduced if need be; request.body goes to any client
  session.record({ content: 'First a backup, then the schema, then the data, in three releases.' })
  session.add({ role: 'user', content: 'Good. Write it down.' })
  session.record({ content: 'It is in docs/migration.md.' })
  await session.compact({ instructions: 'keep the schema decisions' })
  const { matches } = await session.recall('orders_2019')
  say(`prepared: ${request.type}; found again: ${matches.length}; ${session.explain().percentLeft} % left`)
  await session.undo()
  await session.close()
}

if (import.meta.main) await main()
