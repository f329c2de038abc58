// What a failure of the database means: words for a person, and whether trying again may help.

import { stringAt } from '../../core/message/json.ts'
import { errorText } from '../../core/ports/guarded.ts'

export type Failure = { readonly why: string; readonly isTemporary: boolean }

/** SQLSTATE codes and classes, and codes of the system. */
const known: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'refused the login. Check user and password in the URL.'],
  [/^3D000$/, 'has no such database. Create it, or correct the URL.'],
  [
    /^42501$/,
    'does not permit this. Grant the role CREATE on the database (or create the schema for it) and access to it.',
  ],
  [/^53100$/, 'has no disk space left.'],
]

const temporary =
  /^(08|57P0|40001|40P01|53|55P03|25006|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOENT)/

/** `pg` gives these no code. */
const temporaryWords = /connection terminated|timeout|connection ended|client was closed|not queryable/i

export function failureOf(error: unknown, where: string): Failure {
  const cause = firstOf(error)
  const code = stringAt(cause, 'code') ?? ''
  const text = errorText(cause)
  const isTemporary = temporary.test(code) || (code === '' && temporaryWords.test(text))
  const advice = known.find(([pattern]) => pattern.test(code))?.[1]
  const place = `PostgreSQL ${where}`
  if (advice) return { why: `${place} ${advice} (${text})`, isTemporary }
  if (isTemporary)
    return { why: `${place} cannot be reached or is busy: ${text}${code ? ` (${code})` : ''}.`, isTemporary }
  return { why: `${place} reported: ${text}${code ? ` (${code})` : ''}.`, isTemporary }
}

/** A host with several addresses fails with an error for each. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? stringAt(error.cause, 'code') : undefined
}
