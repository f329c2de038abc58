// Ten lines to start with: a session that stays inside its window.
import { offline } from 'everlong'
import { createEngine } from 'everlong/node'

const engine = createEngine({ model: offline() }) // or anthropic({ model: 'claude-sonnet-4-6' }) from 'everlong/anthropic'
const session = await engine.start() // start({ path }) keeps it in a file, open(path) continues one
session.add({ role: 'user', content: 'Plan the migration. Never drop the table orders_2019.' })
const request = await session.prepare() // clears or compacts if it has to; send request.body with any client
session.record({ content: 'First a backup, then the schema, then the data, in three releases.' })
session.add({ role: 'user', content: 'Good. Write it down.' })
session.record({ content: 'It is in docs/migration.md.' })
await session.compact({ instructions: 'keep the schema decisions' })
const { matches } = await session.recall('orders_2019')
console.log(`prepared: ${request.type}; found again: ${matches.length}; ${session.explain().percentLeft} % left`)
await session.undo()
await session.close()
