import { overflowShapes } from '@everlong/simulator'
import { describe, expect, test } from 'vitest'
import { overflows } from '../option-values.ts'
import { everlong } from '../testing/harness.ts'

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
    expect(JSON.parse(report.join('\n'))).toMatchObject({ requests: 1, cost: expect.any(Number) })
  })

  test('greets with its address and how clients find it', async () => {
    const { stdout } = await everlong(['simulate', '--port', '0'])
    expect(stdout.replace(/:\d{4,5}\b/g, ':PORT')).toBe(`Listening on http://127.0.0.1:PORT

Set these where your program runs. Any key works.

  Anthropic SDK, LangChain  ANTHROPIC_API_KEY=any ANTHROPIC_BASE_URL=http://127.0.0.1:PORT
  Vercel AI SDK             ANTHROPIC_API_KEY=any ANTHROPIC_BASE_URL=http://127.0.0.1:PORT/v1
  OpenAI SDK                OPENAI_API_KEY=any OPENAI_BASE_URL=http://127.0.0.1:PORT/v1

The requests are logged at http://127.0.0.1:PORT/_everlong/log

Press Ctrl-C to stop.
0 requests; at API prices: $0.00.
`)
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
