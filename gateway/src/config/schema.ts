// The schema of the configuration: every key of the file with its default. Unknown keys are errors.
import { z } from 'zod'
import { keyBytes } from '../encryption/cipher.ts'

export const levels = ['observe', 'answer', 'manage'] as const

/** How much the gateway does with a conversation: store it, also answer its compactions, or also reduce its requests. */
export type Level = (typeof levels)[number]

const plainName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'use lower-case letters, digits, "-" and "_", with a letter or digit first')

const milliseconds = z.number().int().positive()
const level = z.enum(levels)

/** Requests and tokens of a key in any 60 seconds. */
const limits = z.strictObject({
  requestsPerMinute: z.number().int().positive().optional(),
  tokensPerMinute: z.number().int().positive().optional(),
  /** Maximum number of simultaneous requests. */
  concurrent: z.number().int().positive().optional(),
})

const upstream = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
})

const key = z.strictObject({
  /** For logs and the books. */
  name: plainName,
  /** Keys of one tenant share their sessions. */
  tenant: plainName,
  /** Newest first. Older ones stay valid until they are removed here. */
  secrets: z.array(z.string().min(32, 'a key needs at least 32 characters')).min(1),
  level: level.optional(),
  limits: limits.optional(),
})

const store = z.strictObject({
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE */
  postgres: z.string().regex(/^postgres(ql)?:\/\/./, 'must be the URL of a PostgreSQL database'),
  /** Schema of the sessions. Other tables are in schemas whose names begin with it. */
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,40}$/, 'use lower-case letters, digits and "_", at most 41 characters')
    .default('everlong'),
  /** Max. connections of this process. */
  connections: z.number().int().min(2).default(10),
  /** How long a session stays taken after its writing process was killed or paused. */
  leaseMs: milliseconds.default(10_000),
})

const encryption = z.strictObject({
  /** The first one encrypts. Records of the others stay readable as long as the key is here. */
  keys: z
    .array(
      z.strictObject({
        id: plainName,
        secret: z.string().refine((secret) => keyBytes(secret) !== undefined, 'must be 32 bytes in base64 or hex'),
      }),
    )
    .min(1)
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'two keys have the same id'),
})

const days = z.number().int().positive()

/** Without a number, nothing is removed. */
const kept = {
  /** Removes sessions that have not changed for this number of days, with all their data. */
  sessionDays: days.optional(),
  /** Removes older rows of the books. */
  bookDays: days.optional(),
}

const retention = z.strictObject({
  ...kept,
  /** Other numbers for a tenant, by its name. */
  tenants: z.record(plainName, z.strictObject(kept)).default({}),
})

/** The defaults are those with which others have measured a gain. */
const keepAlive = z.strictObject({
  /** Max. touches in one pause of a session. */
  maxTouches: z.number().int().positive().default(2),
  /** Smaller prefixes are not kept. */
  minTokens: z.number().int().positive().default(20_000),
  /** Max. price of a touch, in US dollars. */
  maxDollars: z.number().positive().default(0.25),
  /** Maximum size of all held requests. Above it, the oldest are dropped. */
  maxBytes: z
    .number()
    .int()
    .positive()
    .default(64 << 20),
})

const telemetry = z.strictObject({
  /** URL of an OTLP collector, without /v1/traces. */
  endpoint: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  /** For the collector. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Share of the requests that are traced, unless their client decides. */
  sampleRatio: z.number().min(0).max(1).default(1),
})

const upstreamNames = z.strictObject({
  messages: plainName.default('anthropic'),
  openai: plainName.default('openai'),
})

export const configSchema = z.strictObject({
  listen: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1'),
      port: z.number().int().min(0).max(65_535).default(8787),
    })
    .prefault({}),
  /** The folder of transcripts and books. */
  data: z.string().min(1).default('everlong-gateway'),
  /** Storage of sessions and books for several processes. Default: the folder. */
  store: store.optional(),
  /** Encrypts conversations before they are stored. */
  encryption: encryption.optional(),
  /** How long data is kept. Default: forever. */
  retention: retention.prefault({}),
  /** What to do with requests while the database is unavailable: pass them on unmanaged, or refuse them. */
  whenStoreIsAway: z.enum(['pass', 'refuse']).default('pass'),
  /** By name. A request may choose one as the first part of its path: /NAME/v1/messages. */
  upstreams: z.record(plainName, upstream).default({
    anthropic: { url: 'https://api.anthropic.com' },
    openai: { url: 'https://api.openai.com' },
  }),
  /** The upstreams for the Messages API and for OpenAI's APIs, if the path names none. */
  defaultUpstreams: upstreamNames.prefault({}),
  /** Level of requests whose key sets none. */
  level: level.default('observe'),
  /** Without keys, every caller is the tenant "default". */
  keys: z.array(key).default([]),
  /** Opens /metrics and the report of all tenants, where there are keys. */
  adminSecrets: z.array(z.string().min(32, 'a key needs at least 32 characters')).default([]),
  /** Keeps the prompt cache of idle sessions warm, with the callers' credentials in memory. Default: not at all. */
  keepAlive: keepAlive.optional(),
  /** Destination of traces and metrics. Default: from OpenTelemetry's variables, otherwise none. */
  telemetry: telemetry.optional(),
  limits: z
    .strictObject({
      maxBodyBytes: z
        .number()
        .int()
        .positive()
        .default(32 << 20),
      /** An answer of any size is passed on, but a longer one is not stored. */
      maxStoredAnswerBytes: z
        .number()
        .int()
        .positive()
        .default(16 << 20),
      /** Maximum size of all exchanges that are not written yet. Above it, the oldest are not stored. */
      maxWaitingBytes: z
        .number()
        .int()
        .positive()
        .default(256 << 20),
      /** From the end of the request to the first byte of the answer. */
      firstByteMs: milliseconds.default(600_000),
      /** Maximum silence in the middle of an answer. */
      idleMs: milliseconds.default(300_000),
      /** Interval of the pings that a client gets while the gateway itself works. */
      pingMs: milliseconds.default(10_000),
      /** To receive the head and the body of a request. */
      requestMs: milliseconds.default(60_000),
      /** How long a stop waits for streaming answers. */
      stopMs: milliseconds.default(30_000),
      /** How long a stop then waits for an unavailable database. Afterwards unwritten data is lost and logged. */
      storeMs: milliseconds.default(10_000),
    })
    .prefault({}),
})

export type Config = z.output<typeof configSchema>
export type KeyConfig = Config['keys'][number]
