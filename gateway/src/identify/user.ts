// The user of a request, for erasure: a name that the client chose, not a credential. Our own header first, then the fields of
// the APIs.
import type { IncomingHttpHeaders } from 'node:http'
import { type JsonObject, objectAt, stringAt } from 'everlong/internal'
import { headerOf } from '../http/headers.ts'
import { parsedObject } from './client-ids.ts'

/** Names the user, for any client. It is not forwarded. */
export const userHeader = 'x-everlong-user'

const maxLength = 200

/** Undefined if the request names nobody. */
export function userOf(headers: IncomingHttpHeaders, body: JsonObject): string | undefined {
  const given =
    headerOf(headers, userHeader) ?? inMetadata(body) ?? stringAt(body, 'safety_identifier') ?? stringAt(body, 'user')
  const user = given?.trim()
  // A database could not store such a name.
  return user && user.length <= maxLength && user.isWellFormed() && !user.includes('\0') ? user : undefined
}

/** Claude Code puts account and device into `metadata.user_id`, as JSON or, in older versions, joined with "_". */
function inMetadata(body: JsonObject): string | undefined {
  const given = stringAt(objectAt(body, 'metadata'), 'user_id')
  if (given === undefined) return undefined
  if (given.startsWith('{')) {
    const parts = parsedObject(given)
    return stringAt(parts, 'account_uuid') || stringAt(parts, 'device_id')
  }
  const [, device, account] = /^user_([0-9a-f]+)_account_([\w-]*?)_session_[\w-]+$/.exec(given) ?? []
  return account || device || given
}
