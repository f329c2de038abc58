// One user message becomes a request, in memory and without a model.
import { createEngine, offline } from 'everlong'

const engine = createEngine({ model: offline() })
const session = await engine.start()
session.add({ role: 'user', content: 'Hello' })
const request = await session.prepare()
if (request.type === 'blocked') throw new Error(request.why)
