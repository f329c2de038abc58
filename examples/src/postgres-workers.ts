// Three workers share the sessions of one PostgreSQL database: any of them can take any session.
import { createEngine, offline } from 'everlong'
import { postgres } from 'everlong/postgres'

const url = process.env.DATABASE_URL ?? 'postgres://localhost/everlong'
const queue = ['ann', 'bob', 'cleo', 'ann', 'bob', 'cleo'].map((user, at) => ({ user, text: `Message ${at + 1}.` }))

async function work(owner: string): Promise<void> {
  const store = postgres({ url, tenant: 'example' })
  const engine = createEngine({ model: offline(), store })
  for (let job = queue.shift(); job; job = queue.shift()) {
    const { user, text } = job
    const id = `chat-with-${user}`
    // Another worker may have it at this moment, so wait for it.
    const session = await engine.open(id, { owner, user, ifMissing: 'start', waitMs: 30_000 })
    session.add({ role: 'user', content: text })
    // The message is stored before it is sent, and the answer before the turn is over.
    const turn = await session.send()
    console.log(`${owner} in ${id}: ${turn.type}`)
    await session.close()
  }
  await store.close()
}
await Promise.all(['worker 1', 'worker 2', 'worker 3'].map(work))

const store = postgres({ url, tenant: 'example' })
for (const { id } of await store.list()) {
  let prompts = 0
  for await (const { record } of store.records(id)) if (record.type === 'user') prompts++
  console.log(`${id}: ${prompts} prompts`)
}
console.log(`sessions erased for ann: ${await store.erase({ user: 'ann' })}`)
await store.close()
