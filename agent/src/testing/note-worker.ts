// A process that repeatedly takes notes of one session, a given number of times or until it is killed. Reports its start, and
// then the result of each extraction on its own line. Arguments: transcript, address of the model, name, count.
import { countTokens, type Message } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { createLedger } from 'everlong/internal/compaction'
import { openMemory } from 'everlong/internal/node'

const [transcript = '', baseURL = '', name = '', times = ''] = process.argv.slice(2)
const model = anthropic({ model: 'claude-opus-4-5', apiKey: 'none', baseURL })
const memory = openMemory(transcript)
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

say({ name, type: 'ready' })

for (let nth = 1; nth <= Number(times); ) {
  const messages: readonly Message[] = [{ role: 'user', content: `This is ${name} ${nth}.` }]
  const { type } = await memory.extract({
    conversation: { source: 'session-memory', model: model.model, messages },
    messages: messages.map((message) => ({ ...message, origin: 'human' })),
    ledger: createLedger().ledger(),
    model,
    countTokens: (text) => countTokens([{ role: 'user', content: text }]),
  })
  say({ name, nth, type })
  if (type === 'extracted') nth++
}
