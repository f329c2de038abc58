// Faults between a client and the API, as data: their names in a header, and the error that represents a cut connection. Nothing
// here acts.

export type Fault =
  /** 429 with retry-after in seconds (rounded up) and retry-after-ms; 1,000 ms by default. */
  | { readonly type: 'rate-limit'; readonly retryAfterMs?: number }
  /** 529 overloaded_error. */
  | { readonly type: 'overloaded' }
  /** 500 api_error. */
  | { readonly type: 'server-error' }
  /** The connection ends before a status line arrives. The request does not reach the handler. */
  | { readonly type: 'cut-before' }
  /** The connection ends after this many bytes of the body (default: 200), or at its end if it is shorter. */
  | { readonly type: 'cut-during'; readonly afterBytes?: number }
  /** The whole body arrives, and then the connection breaks instead of ending properly. */
  | { readonly type: 'cut-after' }
  /** Nothing more arrives after this many bytes (default: 200), until the request is aborted or the body cancelled. */
  | { readonly type: 'stall'; readonly afterBytes?: number }
  /** The stream ends properly but without its last event, or after this many events. A plain body ends halfway. */
  | { readonly type: 'truncate'; readonly afterEvents?: number }
  /** A stream that began with 200 ends in an overloaded_error after this many events (3 by default). */
  | { readonly type: 'error-event'; readonly afterEvents?: number }
  /** The same bytes in pieces of 1 to `longest` bytes (64 by default), cut anywhere, also inside a character. */
  | { readonly type: 'split'; readonly longest?: number }
  /** Events come twice with this probability (0.5 by default), at least one of them. */
  | { readonly type: 'duplicate'; readonly probability?: number }
  /** A wait before each piece of the body: 50 ms by default. */
  | { readonly type: 'slow'; readonly delayMs?: number }

type Cut = 'cut-before' | 'cut-during' | 'cut-after'

/**
 * A connection that was cut. Thrown by the handler (`cut-before`) or by the body while it is read. It is the TypeError
 * that Node's fetch gives, so a client that gets the handler as its `fetch` sees what it would see on a real network.
 * A server must destroy the socket instead of answering: see on-socket.ts.
 */
export class FaultSignal extends TypeError {
  readonly type: Cut

  constructor(type: Cut) {
    const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
    super(type === 'cut-before' ? 'fetch failed' : 'terminated', { cause })
    this.type = type
  }
}

export const faultHeader = 'x-everlong-fault'

/** The parameters of each fault in a header: `x-everlong-fault: cut-during; after-bytes=100`. */
const settings: Readonly<Record<Fault['type'], readonly string[]>> = {
  'rate-limit': ['retryAfterMs'],
  overloaded: [],
  'server-error': [],
  'cut-before': [],
  'cut-during': ['afterBytes'],
  'cut-after': [],
  stall: ['afterBytes'],
  truncate: ['afterEvents'],
  'error-event': ['afterEvents'],
  split: ['longest'],
  duplicate: ['probability'],
  slow: ['delayMs'],
}

export const faultTypes: readonly string[] = Object.keys(settings)

/** The fault in a header's value, or a string with the problem. */
export function readFault(value: string): Fault | string {
  const [name = '', ...parts] = value.split(';').map((part) => part.trim())
  if (!isFaultType(name)) return `${faultHeader}: '${name}' is none of ${faultTypes.join(', ')}`
  const fault: Record<string, string | number> = { type: name }
  for (const part of parts) {
    const [key = '', number = ''] = part.split('=').map((half) => half.trim())
    const setting = key.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    const known = settings[name].includes(setting)
    if (!known || number === '' || !(Number(number) >= 0)) return `${faultHeader}: '${part}' is no setting of ${name}`
    fault[setting] = Number(number)
  }
  return fault as Fault
}

function isFaultType(name: string): name is Fault['type'] {
  return Object.hasOwn(settings, name)
}
