// Opens a transcript: `open.ts PATH`.
import { offline } from 'everlong'
import { createEngine } from 'everlong/node'

const engine = createEngine({ model: offline() })
const session = await engine.open(process.argv[2] ?? '')
await session.close()
