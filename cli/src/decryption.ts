// The keys of encrypted sessions: from the environment or a file, never from an argument, which every user of the machine could read.
import { readFileSync } from 'node:fs'
import {
  type Cipher,
  createCipher,
  type EncryptionKey,
  encryptedSessions,
  sealedWith,
} from '@everlong/gateway/encryption'
import { StoreError } from 'everlong'
import type { SessionStore } from 'everlong/stores'
import type { Io } from './io.ts'

const variable = 'EVERLONG_ENCRYPTION_KEYS'
const fileVariable = 'EVERLONG_ENCRYPTION_KEYS_FILE'

/** Reads records that the given keys open. Throws a StoreError for an encrypted record without its key. */
export function decrypted(store: SessionStore, env: Io['env']): SessionStore {
  const keys = keysIn(env)
  return encryptedSessions(store, keys ? createCipher(keys) : withoutKeys)
}

const withoutKeys: Cipher = {
  seal: (record) => record,
  open: (record) => {
    const key = sealedWith(record)
    if (key === undefined) return record
    const how = `Put the keys of the gateway into ${variable} (ID=SECRET), or name a file with them in ${fileVariable}.`
    throw new StoreError(`This session is encrypted with the key "${key}". ${how}`, { reason: 'denied' })
  },
}

/** Undefined if none are given. The first one encrypts appended records. */
function keysIn(env: Io['env']): readonly EncryptionKey[] | undefined {
  const file = env[fileVariable]
  const text = env[variable] ?? (file === undefined ? undefined : textOf(file))
  const source = env[variable] === undefined ? `The file of ${fileVariable}` : variable
  const words = text?.split(/[\s,]+/).filter((word) => word !== '')
  if (!words || words.length === 0) return undefined
  return words.map((word, at) => {
    const [, id, secret] = /^([^=]+)=(.+)$/.exec(word) ?? []
    if (id === undefined || secret === undefined)
      throw new StoreError(`${source} is not a list of ID=SECRET: see entry ${at + 1}.`, { reason: 'invalid' })
    return { id, secret }
  })
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new StoreError(`${fileVariable}: ${path} cannot be read (${code}).`, { reason: 'denied' })
  }
}
