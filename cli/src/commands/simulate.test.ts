import { overflowShapes } from '@everlong/simulator'
import type { JsonObject } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { overflows } from '../option-values.ts'
import { everlong } from '../testing/harness.ts'
import { render } from './simulate/server.ts'

describe('everlong simulate', () => {
  test('serves the Messages API until it is stopped, and says what it would have cost', async () => {
    let answer: unknown
    const { exitCode, stdout, stderr } = await everlong(['simulate', '--port', '0', '--json'], {
      meanwhile: async (printed) => {
        const { url } = JSON.parse(printed) as { readonly url: string }
        const body = { model: 'claude-opus-5', max_tokens: 50, messages: [{ role: 'user', content: 'hello' }] }
        const headers = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }
        const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })
        answer = await response.json()
      },
    })
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(answer).toMatchObject({ type: 'message', role: 'assistant', model: 'claude-opus-5' })
    const [, ...report] = stdout.split('\n')
    expect(JSON.parse(report.join('\n'))).toMatchObject({ requests: 1, cost: expect.any(Number), unpriced: 0 })
  })

  test('calls the tools of whoever asks, takes notes, and does not call a model free whose price is not known', async () => {
    const asked = async (url: string, body: object) => {
      const headers = { authorization: 'Bearer any', 'x-api-key': 'any', 'content-type': 'application/json' }
      const version = { 'anthropic-version': '2023-06-01' }
      const init = { method: 'POST', headers: { ...headers, ...version }, body: JSON.stringify(body) }
      return (await (await fetch(url, init)).json()) as JsonObject
    }
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 3 }, note: { type: 'string' } },
      required: ['city', 'days'],
    }
    const answers: JsonObject[] = []
    const { stdout } = await everlong(['simulate', '--port', '0', '--json'], {
      meanwhile: async (printed) => {
        const { url } = JSON.parse(printed) as { readonly url: string }
        const user = (content: string) => [{ role: 'user', content }]
        const tools = [{ name: 'get_weather', input_schema: parameters }]
        const base = { model: 'claude-opus-5', max_tokens: 500 }
        answers.push(await asked(`${url}/v1/messages`, { ...base, messages: user('hello'), tools }))
        const form = 'Write the notes: <section name="Title">one line</section>'
        answers.push(await asked(`${url}/v1/messages`, { ...base, messages: user(form) }))
        answers.push(await asked(`${url}/v1/chat/completions`, { model: 'gpt-unheard-of', messages: user('hello') }))
      },
    })
    const called = { type: 'tool_use', name: 'get_weather', input: { city: 'example', days: 3 } }
    expect(answers[0]).toMatchObject({ content: expect.arrayContaining([expect.objectContaining(called)]) })
    expect(answers[1]).toMatchObject({ content: [{ text: expect.stringContaining('<section name="Session title">') }] })
    expect(answers[2]).toMatchObject({ model: 'gpt-unheard-of', choices: [{ message: { role: 'assistant' } }] })
    const report = JSON.parse(stdout.split('\n').slice(1).join('\n'))
    expect(report).toMatchObject({ requests: 3, unpriced: 1 })
  })

  test.each([
    [{ requests: 2, cost: 0.5, unpriced: 0 }, '2 requests; at API prices: $0.50.'],
    [{ requests: 2, cost: 0, unpriced: 2 }, '2 requests; the price of these models is not known.'],
    [
      { requests: 2, cost: 0.5, unpriced: 1 },
      '2 requests; at API prices: $0.50, without 1 to models whose price is not known.',
    ],
  ])('says what is known of the cost: %j', (report, line) => {
    expect(render(report)).toEqual([line])
  })

  test('greets with its address and how clients find it', async () => {
    const { stdout } = await everlong(['simulate', '--port', '0'])
    expect(stdout.replace(/:\d{4,5}\b/g, ':PORT')).toBe(`Listening on http://127.0.0.1:PORT

Set these where your program runs. Any key works.

  Anthropic SDK, LangChain  ANTHROPIC_API_KEY=any ANTHROPIC_BASE_URL=http://127.0.0.1:PORT
  Vercel AI SDK             ANTHROPIC_API_KEY=any ANTHROPIC_BASE_URL=http://127.0.0.1:PORT/v1
  OpenAI SDK                OPENAI_API_KEY=any OPENAI_BASE_URL=http://127.0.0.1:PORT/v1

Models have their real windows. To see a compaction soon: --window 16000

The requests are logged at http://127.0.0.1:PORT/_everlong/log

Press Ctrl-C to stop.
0 requests; at API prices: $0.00.
`)
  })

  test('says which window every model has', async () => {
    const { stdout } = await everlong(['simulate', '--port', '0', '--window', '16000'])
    expect(stdout).toContain('\nEvery model has a window of 16,000 tokens.\n')
  })

  test('the shapes that the command line names are those of the simulator', () => {
    expect(overflows).toEqual(overflowShapes)
  })

  test('an unknown overflow shape, or a port that is taken, is one clear line', async () => {
    const wrong = await everlong(['simulate', '--port', '0', '--overflow', 'nonsense'])
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      `everlong: option '--overflow <shape>' argument 'nonsense' is invalid. Choose from ${overflowShapes.join(', ')}. See everlong simulate --help.\n`,
    ])
    await everlong(['simulate', '--port', '0', '--json'], {
      meanwhile: async (printed) => {
        const { port } = JSON.parse(printed) as { readonly port: number }
        const taken = await everlong(['simulate', '--port', String(port)])
        expect([taken.exitCode, taken.stderr]).toEqual([
          1,
          `everlong: port ${port} is in use. Choose another, or --port 0 for any free one.\n`,
        ])
      },
    })
  })
})
