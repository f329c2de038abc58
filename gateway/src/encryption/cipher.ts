// Records encrypted at rest with a key of the operator: AES-256-GCM over the whole record. The fields that stores need to order
// and link records stay readable, and are authenticated.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { StoreError } from 'everlong'
import { type JsonObject, objectAt, stringAt } from 'everlong/internal'

export type EncryptionKey = {
  /** Stored in each record, to find the key that opens it. */
  readonly id: string
  /** 32 bytes, as base64 or hex. */
  readonly secret: string
}

export type Cipher = {
  readonly seal: (record: JsonObject) => JsonObject
  /** Throws a StoreError if the key is unknown or the record was changed. Returns unencrypted records unchanged. */
  readonly open: (record: JsonObject) => JsonObject
}

/** Fields that stay readable, in the order in which they are authenticated. */
const readable = [
  'uuid',
  'parentUuid',
  'logicalParentUuid',
  'sessionId',
  'timestamp',
  'type',
  'subtype',
  'isSidechain',
  'userType',
] as const

const sealed = 'everlongSealed'
/** The key that a record is encrypted with; undefined if it is not encrypted. */
export function sealedWith(record: JsonObject): string | undefined {
  const box = objectAt(record, sealed)
  return box && (stringAt(box, 'key') ?? '')
}

const ivBytes = 12
const tagBytes = 16

/** Undefined if the secret is not 32 bytes in base64 or hex. */
export function keyBytes(secret: string): Buffer | undefined {
  const text = secret.trim()
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[\w+/-]{43}=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined
  return bytes?.length === 32 ? bytes : undefined
}

/** Seals with the first key, and opens with any. */
export function createCipher(keys: readonly EncryptionKey[]): Cipher {
  const byId = new Map(
    keys.map(({ id, secret }) => {
      const bytes = keyBytes(secret)
      if (!bytes)
        throw new StoreError(`The encryption key "${id}" is not 32 bytes in base64 or hex.`, { reason: 'invalid' })
      return [id, bytes] as const
    }),
  )
  const [newest] = byId
  if (!newest) throw new StoreError('There is no encryption key.', { reason: 'invalid' })
  const [newestId, newestKey] = newest
  // Derived from the record, so that a repeated record has the same bytes and two records never share one.
  const ivKey = Buffer.from(hkdfSync('sha256', newestKey, '', 'everlong iv', 32))
  return {
    seal: (record) => {
      const open = readableIn(record)
      const text = JSON.stringify(record)
      const aad = authenticated(open, newestId)
      const iv = createHmac('sha256', ivKey).update(aad).update(text).digest().subarray(0, ivBytes)
      const cipher = createCipheriv('aes-256-gcm', newestKey, iv).setAAD(aad)
      const data = Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()])
      return { ...open, [sealed]: { key: newestId, data: data.toString('base64') } }
    },
    open: (record) => {
      const box = objectAt(record, sealed)
      if (!box) return record
      const id = stringAt(box, 'key') ?? ''
      const key = byId.get(id)
      if (!key)
        throw new StoreError(`A record is encrypted with the key "${id}", which is not given.`, { reason: 'denied' })
      return opened({ record, id, key, data: stringAt(box, 'data') ?? '' })
    },
  }
}

function readableIn(record: JsonObject): JsonObject {
  return Object.fromEntries(readable.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]))
}

function authenticated(open: JsonObject, key: string): Buffer {
  return Buffer.from(JSON.stringify([key, open]))
}

type Box = { readonly record: JsonObject; readonly id: string; readonly key: Buffer; readonly data: string }

function opened({ record, id, key, data }: Box): JsonObject {
  const bytes = Buffer.from(data, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      .setAAD(authenticated(readableIn(record), id))
      .setAuthTag(bytes.subarray(-tagBytes))
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()])
    return JSON.parse(text.toString('utf8'))
  } catch (error) {
    const why = `The record ${String(record.uuid)} cannot be decrypted: it was changed, or the key "${id}" is another one.`
    throw new StoreError(why, { reason: 'denied', cause: error })
  }
}
