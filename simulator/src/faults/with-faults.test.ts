import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Fault, FaultSignal, faultTypes, readFault } from './fault.ts'
import { type FaultPlan, type FaultRule, type Handler, withFaults } from './with-faults.ts'

const events = [
  'event: message_start\ndata: {"type":"message_start"}\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: content_block_delta\ndata: {"delta":{"text":"größer als 🦩 und 漢字"}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
]
const whole = events.join('')

/** Streams event by event, as the simulator does. */
const streaming: Handler = () => {
  const parts = events.map((event) => new TextEncoder().encode(event))
  return new Response(ReadableStream.from(parts), { headers: { 'content-type': 'text/event-stream' } })
}
const plain: Handler = () => Response.json({ type: 'message', text: 'hello' }, { headers: { 'content-length': '33' } })

const post = (headers: Record<string, string> = {}, signal?: AbortSignal) =>
  new Request('http://simulator/v1/messages', { method: 'POST', body: '{}', headers, ...(signal ? { signal } : {}) })

const answerWith = (fault: Fault, handler = streaming, plan: FaultPlan = {}) =>
  withFaults(handler, { ...plan, rules: [{ fault }] })(post())

/** Everything that can be read, and the error that ended it. */
async function readAll(response: Response): Promise<{ text: string; pieces: number; error: unknown }> {
  const chunks: Uint8Array[] = []
  let error: unknown
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk)
  } catch (reason) {
    error = reason
  }
  return { text: Buffer.concat(chunks).toString('utf8'), pieces: chunks.length, error }
}

describe('refusals', () => {
  test.each([
    [{ type: 'rate-limit', retryAfterMs: 1_500 }, 429, 'rate_limit_error', ['2', '1500']],
    [{ type: 'overloaded' }, 529, 'overloaded_error', [null, null]],
    [{ type: 'server-error' }, 500, 'api_error', [null, null]],
  ] as const)('%j has the shape of the API', async (fault, status, type, retryAfter) => {
    const response = await answerWith(fault)
    const body = (await response.json()) as { request_id: string; error: { message: string } }
    expect(response.status).toBe(status)
    expect(['retry-after', 'retry-after-ms'].map((name) => response.headers.get(name))).toEqual(retryAfter)
    expect(body.request_id).toMatch(/^req_[0-9a-z]{24}$/)
    expect(body.request_id).toBe(response.headers.get('request-id'))
    expect(body).toEqual({
      type: 'error',
      error: { type, message: body.error.message },
      request_id: body.request_id,
    })
  })

  test('the handler is never reached', async () => {
    let reached = 0
    const counting: Handler = (request) => {
      reached++
      return streaming(request)
    }
    for (const type of ['rate-limit', 'overloaded', 'server-error'] as const) await answerWith({ type }, counting)
    await answerWith({ type: 'cut-before' }, counting).catch(() => undefined)
    expect(reached).toBe(0)
  })
})

describe('cut connections', () => {
  test('before the answer: the call rejects as fetch does', async () => {
    const error = await answerWith({ type: 'cut-before' }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toBeInstanceOf(FaultSignal)
    expect(error).toMatchObject({ type: 'cut-before', message: 'fetch failed', cause: { code: 'UND_ERR_SOCKET' } })
  })

  test.each([
    [{ type: 'cut-during', afterBytes: 60 }, whole.slice(0, 60)],
    [{ type: 'cut-during', afterBytes: 0 }, ''],
    [{ type: 'cut-during', afterBytes: 10_000 }, whole],
    [{ type: 'cut-after' }, whole],
  ] as const)('%j: what was sent arrives, then the body fails', async (fault, sent) => {
    const { text, error } = await readAll(await answerWith(fault))
    expect(text).toBe(sent)
    expect(error).toBeInstanceOf(FaultSignal)
    expect(error).toMatchObject({ type: fault.type, message: 'terminated', cause: { code: 'UND_ERR_SOCKET' } })
  })

  test('a plain body can be cut too, and its length is no longer promised', async () => {
    const response = await answerWith({ type: 'cut-during', afterBytes: 5 }, plain)
    expect(response.headers.get('content-length')).toBe(null)
    expect((await readAll(response)).text).toBe('{"typ')
  })
})

describe('a stalled stream', () => {
  test('sends its beginning, then nothing until the request is aborted', async () => {
    const control = new AbortController()
    const faulty = withFaults(streaming, { rules: [{ fault: { type: 'stall', afterBytes: 20 } }] })
    const reader = ((await faulty(post({}, control.signal))).body as ReadableStream<Uint8Array>).getReader()
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(whole.slice(0, 20))
    const next = reader.read().catch((error: unknown) => error)
    const first = await Promise.race([next, new Promise((resolve) => setImmediate(() => resolve('silence')))])
    expect(first).toBe('silence')
    control.abort()
    expect(await next).toMatchObject({ name: 'AbortError' })
  })

  test('ends at once if the request was aborted before', async () => {
    const control = new AbortController()
    const faulty = withFaults(streaming, { rules: [{ fault: { type: 'stall', afterBytes: 20 } }] })
    const response = await faulty(post({}, control.signal))
    control.abort()
    const { text, error } = await readAll(response)
    expect([text, error]).toEqual([whole.slice(0, 20), expect.objectContaining({ name: 'AbortError' })])
  })

  test('ends when the reader goes away', async () => {
    const response = await answerWith({ type: 'stall', afterBytes: 20 })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    const next = reader.read()
    await reader.cancel()
    expect(await next).toEqual({ done: true, value: undefined })
  })
})

describe('event streams', () => {
  test('a truncated one ends properly, without its last event or after so many', async () => {
    const short = await readAll(await answerWith({ type: 'truncate' }))
    expect(short).toEqual({ text: events.slice(0, 3).join(''), pieces: 3, error: undefined })
    const shorter = await readAll(await answerWith({ type: 'truncate', afterEvents: 1 }))
    expect(shorter.text).toBe(events[0])
    const half = await readAll(await answerWith({ type: 'truncate' }, plain))
    expect(half).toEqual({ text: '{"type":"message', pieces: 1, error: undefined })
  })

  test('an error can come as an event, instead of all that would have followed', async () => {
    const { text, error } = await readAll(await answerWith({ type: 'error-event', afterEvents: 2 }))
    const failure =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    expect({ text, error }).toEqual({ text: `${events[0]}${events[1]}${failure}`, error: undefined })
    expect(await (await answerWith({ type: 'error-event' }, plain)).json()).toEqual({ type: 'message', text: 'hello' })
  })

  test('duplicated events are whole events, and at least one comes twice', async () => {
    const all = await readAll(await answerWith({ type: 'duplicate', probability: 1 }))
    expect(all.text).toBe(events.map((event) => event + event).join(''))
    const one = await readAll(await answerWith({ type: 'duplicate', probability: 0 }))
    expect(one.text).toBe(whole + events[3])
  })

  test('split bytes join to the same bytes, in pieces that cut characters', async () => {
    let cutInside = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 300 })),
        fc.integer(),
        fc.integer({ min: 1, max: 90 }),
        async (parts, seed, longest) => {
          const handler: Handler = () => new Response(ReadableStream.from(parts.filter((part) => part.length > 0)))
          const response = await answerWith({ type: 'split', longest }, handler, { seed })
          const pieces: Uint8Array[] = []
          for await (const piece of response.body ?? []) pieces.push(piece)
          expect(Buffer.concat(pieces).equals(Buffer.concat(parts))).toBe(true)
          expect(pieces.every((piece) => piece.length > 0 && piece.length <= longest)).toBe(true)
        },
      ),
    )
    for (let seed = 0; seed < 40; seed++) {
      const response = await answerWith({ type: 'split', longest: 8 }, streaming, { seed })
      for await (const piece of response.body ?? []) if (((piece[0] ?? 0) & 0xc0) === 0x80) cutInside++
    }
    expect(cutInside).toBeGreaterThan(0)
  })

  test('a slow one waits before each piece', async () => {
    const waits: number[] = []
    const wait = async (milliseconds: number) => {
      waits.push(milliseconds)
    }
    const { text } = await readAll(await answerWith({ type: 'slow', delayMs: 250 }, streaming, { wait }))
    expect({ text, waits }).toEqual({ text: whole, waits: [250, 250, 250, 250] })
  })
})

describe('choosing a fault', () => {
  const statuses = async (plan: FaultPlan, count: number) => {
    const faulty = withFaults(plain, plan)
    const found: number[] = []
    for (let ordinal = 0; ordinal < count; ordinal++) found.push((await faulty(post())).status)
    return found
  }

  test('without a rule that holds the answer is the handler’s own', async () => {
    expect(await statuses({}, 2)).toEqual([200, 200])
    const response = await plain(post())
    expect(await withFaults(() => response)(post())).toBe(response)
  })

  test('rules hold by ordinal or request, the first one wins', async () => {
    const rules: readonly FaultRule[] = [
      { when: (_request, ordinal) => ordinal < 2, fault: { type: 'overloaded' } },
      { when: (request, ordinal) => request.url.endsWith('/messages') && ordinal === 3, fault: { type: 'rate-limit' } },
      { when: (_request, ordinal) => ordinal === 1, fault: { type: 'server-error' } },
    ]
    expect(await statuses({ rules }, 5)).toEqual([529, 529, 200, 429, 200])
  })

  test('by probability: the same for the same seed, about as often as asked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const plan: FaultPlan = { seed, rules: [{ probability: 0.3, fault: { type: 'overloaded' } }] }
        expect(await statuses(plan, 30)).toEqual(await statuses(plan, 30))
      }),
      { numRuns: 20 },
    )
    const plan: FaultPlan = { seed: 9, rules: [{ probability: 0.3, fault: { type: 'overloaded' } }] }
    const hit = (await statuses(plan, 1_000)).filter((status) => status === 529).length
    expect(hit).toBeGreaterThan(240)
    expect(hit).toBeLessThan(360)
    expect(await statuses({ ...plan, seed: 10 }, 30)).not.toEqual(await statuses(plan, 30))
  })

  test('by probability: each rule has a chance of its own', async () => {
    const rules: readonly FaultRule[] = [
      { probability: 0.5, fault: { type: 'overloaded' } },
      { probability: 0.5, fault: { type: 'server-error' } },
    ]
    const all = await statuses({ seed: 9, rules }, 1_000)
    const counts = [529, 500, 200].map((status) => all.filter((each) => each === status).length)
    for (const [at, expected] of [500, 250, 250].entries()) {
      expect(Math.abs((counts[at] ?? 0) - expected)).toBeLessThan(60)
    }
  })

  test('a header asks for one, before all rules', async () => {
    const faulty = withFaults(streaming, { rules: [{ fault: { type: 'overloaded' } }] })
    const response = await faulty(post({ 'x-everlong-fault': 'cut-during; after-bytes=7' }))
    expect((await readAll(response)).text).toBe(whole.slice(0, 7))
  })

  test('a header that names no fault is refused with the list of faults', async () => {
    const response = await withFaults(streaming)(post({ 'x-everlong-fault': 'thunder' }))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: `x-everlong-fault: 'thunder' is none of ${faultTypes.join(', ')}`,
      },
    })
  })

  test.each([
    ['overloaded', { type: 'overloaded' }],
    ['rate-limit; retry-after-ms=20', { type: 'rate-limit', retryAfterMs: 20 }],
    ['duplicate;probability=0.1', { type: 'duplicate', probability: 0.1 }],
    ['stall; after-bytes=many', "x-everlong-fault: 'after-bytes=many' is no setting of stall"],
    ['split; after-bytes=3', "x-everlong-fault: 'after-bytes=3' is no setting of split"],
  ])('the header %s is read', (value, fault) => {
    expect(readFault(value)).toEqual(fault)
  })
})
