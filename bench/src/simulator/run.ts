// How fast the simulator answers: small requests a second, and megabytes of body a second as a conversation grows.
// Counted in seconds of processor time, all threads together, so that a busy machine does not change the figures.
// The client's writing of bodies is left out.
import { createSimulator, type Script, startServer } from '@everlong/simulator'
import { defineBenchmark, type Page, table } from '../benchmark.ts'

type Send = (body: string) => Promise<void>
type Rate = { readonly name: string; readonly target?: number; readonly value: number; readonly unit: string }

const script: Script = () => ({ content: [{ type: 'text', text: 'Done.' }] })
const headers = { 'content-type': 'application/json', 'x-api-key': 'bench', 'anthropic-version': '2026-10-21' }
const model = 'claude-opus-5'

type Figures = { readonly node: string; readonly rates: readonly Rate[] }

export const benchmark = defineBenchmark({ name: 'simulator', run, page })

async function run(): Promise<Figures> {
  return { node: process.versions.node, rates: [...(await inProcess()), ...(await overSocket())] }
}

async function inProcess(): Promise<readonly Rate[]> {
  const simulator = createSimulator({ script, windows: { [model]: 10_000_000 } })
  const send = sender(simulator.fetch, 'http://simulator')
  await requestsPerSecond(send, 500, false)
  return [
    { name: 'small requests', target: 2_000, unit: 'requests/s', value: await requestsPerSecond(send, 4_000, false) },
    { name: 'small requests, streamed', unit: 'requests/s', value: await requestsPerSecond(send, 2_000, true) },
    { name: 'a growing conversation', target: 100, unit: 'MB/s', value: await growing(send, 250) },
    { name: 'text never seen before', unit: 'MB/s', value: await unseen(send, 10) },
  ]
}

async function overSocket(): Promise<readonly Rate[]> {
  const server = await startServer({ script, windows: { [model]: 10_000_000 } })
  try {
    const send = sender(fetch, server.url)
    await requestsPerSecond(send, 200, false)
    return [
      {
        name: 'small requests over HTTP, client included',
        unit: 'requests/s',
        value: await requestsPerSecond(send, 1_500, false),
      },
      { name: 'a growing conversation over HTTP, client included', unit: 'MB/s', value: await growing(send, 150) },
    ]
  } finally {
    await server.close()
  }
}

function sender(get: (url: string, init: RequestInit) => Promise<Response>, url: string): Send {
  return async (body) => {
    const response = await get(`${url}/v1/messages`, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status}: ${text.slice(0, 500)}`)
  }
}

async function requestsPerSecond(send: Send, count: number, stream: boolean): Promise<number> {
  const bodies = Array.from({ length: count }, (_, at) =>
    JSON.stringify({ model, max_tokens: 100, stream, messages: [{ role: 'user', content: `Request ${at}` }] }),
  )
  const began = process.cpuUsage()
  for (const body of bodies) await send(body)
  return count / seconds(began)
}

/** Every turn sends the whole history again, with one tool call and 8 KB of result more than before. */
async function growing(send: Send, turns: number): Promise<number> {
  const messages: object[] = [{ role: 'user', content: 'Go on until all is read.' }]
  let spent = 0
  let bytes = 0
  for (let turn = 0; turn < turns; turn++) {
    const id = `toolu_${turn}`
    const content = `const value${turn} = compute(input, options) // ${turn}\n`.repeat(160)
    messages.push({
      role: 'assistant',
      content: [{ type: 'tool_use', id, name: 'read', input: { path: `src/${turn}.ts` } }],
    })
    messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] })
    const body = JSON.stringify({ model, max_tokens: 100, cache_control: { type: 'ephemeral' }, messages })
    const began = process.cpuUsage()
    await send(body)
    spent += seconds(began)
    bytes += Buffer.byteLength(body)
  }
  return bytes / 1_000_000 / spent
}

/** The price of a real tokenizer: each text is counted once, and this is that once. */
async function unseen(send: Send, count: number): Promise<number> {
  let spent = 0
  let bytes = 0
  for (let at = 0; at < count; at++) {
    const lines = Array.from(
      { length: 10_000 },
      (_, line) => `line ${line} of text ${at}: some words, (code) { ${line * at} }`,
    )
    const body = JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: lines.join('\n') }] })
    const began = process.cpuUsage()
    await send(body)
    spent += seconds(began)
    bytes += Buffer.byteLength(body)
  }
  return bytes / 1_000_000 / spent
}

function seconds(began: NodeJS.CpuUsage): number {
  const spent = process.cpuUsage(began)
  return (spent.user + spent.system) / 1_000_000
}

function page({ node, rates }: Figures): Page {
  const figure = (value: number | undefined, unit: string) =>
    value === undefined ? undefined : `${Math.round(value).toLocaleString('en')} ${unit}`
  return {
    title: 'Simulator',
    parts: [
      `Written by \`npm run bench -- simulator\` with Node ${node}. Rates are per second of processor time, all threads
together. A growing conversation sends its whole history with every request, as agents do; text never seen before has to
go through the real tokenizer first.`,
      table(
        ['simulator', 'measured', 'wanted'],
        rates.map(({ name, value, unit, target }) => [name, figure(value, unit), figure(target, unit)]),
      ),
    ],
  }
}
