// Three workers share the sessions of one PostgreSQL database: any of them can take any session. Run it with
// node examples/src/postgres-workers.ts postgres://USER:PASSWORD@HOST/DATABASE
import { createEngine, offline } from 'everlong'
import { postgres } from 'everlong/postgres'

export async function main(say: (line: string) => void, url: string): Promise<void> {
  const queue = ['ann', 'bob', 'cleo', 'ann', 'bob', 'cleo'].map((user, at) => ({ user, text: `Message ${at + 1}.` }))

  const worker = async (owner: string) => {
    const store = postgres({ url, tenant: 'example' })
    const engine = createEngine({ model: offline(), store })
    for (let job = queue.shift(); job; job = queue.shift()) {
      const { user, text } = job
      const id = `chat-with-${user}`
      // Another worker may have it just now.
      const session = await engine.open(id, { owner, user, ifMissing: 'start', waitMs: 30_000 })
      session.add({ role: 'user', content: text })
      // The message is stored before it is sent, and the answer before the turn is over.
      const turn = await session.send()
      say(`${owner} in ${id}: ${turn.type}`)
      await session.close()
    }
    await store.close()
  }
  await Promise.all(['worker 1', 'worker 2', 'worker 3'].map(worker))

  const store = postgres({ url, tenant: 'example' })
  for (const { id } of await store.list()) {
    let prompts = 0
    for await (const { record } of store.records(id)) if (record.type === 'user') prompts++
    say(`${id}: ${prompts} prompts`)
  }
  say(`sessions erased for ann: ${await store.erase({ user: 'ann' })}`)
  await store.close()
}

const [url] = process.argv.slice(2)
if (import.meta.main && url !== undefined) await main(console.log, url)
