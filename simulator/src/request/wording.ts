// A schema's first problem in the API's words: `path: what it should be`.
import { isObject } from 'everlong/internal'
import { z } from 'zod'
import { invalid, type Problem } from '../http/problem.ts'

type Issue = z.core.$ZodIssue

/** The schema's first problem with a value, or undefined. The prefix is the path of the value in the body. */
export function check(schema: z.ZodType, value: unknown, prefix: string): Problem | undefined {
  const outcome = schema.safeParse(value)
  if (outcome.success) return undefined
  const issue = outcome.error.issues[0]
  return issue === undefined ? undefined : invalid(wordingOf(issue, value, prefix))
}

function wordingOf(issue: Issue, value: unknown, prefix: string): string {
  const path = [prefix, ...issue.path.map(String)].filter((part) => part !== '')
  if (issue.code === 'unrecognized_keys') return `${[...path, issue.keys[0] ?? ''].join('.')}: ${extraInput}`
  const missing = issue.path.length > 0 && valueAt(value, issue.path) === undefined
  return `${path.join('.')}: ${missing ? 'Field required' : complaintOf(issue)}`
}

const notAnInteger = 'Input should be a valid integer'

export function integer(least: number) {
  return z.int({ error: notAnInteger }).min(least)
}

export const extraInput = 'Extra inputs are not permitted'

function complaintOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.message === notAnInteger) return notAnInteger
      return `Input should be ${kinds[issue.expected] ?? `a valid ${issue.expected}`}`
    case 'invalid_value':
      return `Input should be ${oneOf(issue.values.map(String))}`
    case 'too_small':
      if (issue.origin === 'string')
        return `String should have at least ${issue.minimum} character${plural(issue.minimum)}`
      if (issue.origin === 'array') return `List should have at least ${issue.minimum} item${plural(issue.minimum)}`
      return `Input should be greater than or equal to ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'string') return `String should have at most ${issue.maximum} characters`
      if (issue.origin === 'array') return `List should have at most ${issue.maximum} items`
      return `Input should be less than or equal to ${issue.maximum}`
    case 'invalid_format':
      return `String should match pattern '${issue.pattern?.replace(/^\/|\/$/g, '') ?? issue.format}'`
    default:
      return issue.message
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a valid string',
  number: 'a valid number',
  boolean: 'a valid boolean',
  array: 'a valid list',
  object: 'an object',
  record: 'a valid dictionary',
}

function plural(count: number | bigint): string {
  return count === 1 ? '' : 's'
}

/** `'a', 'b' or 'c'`, as the API lists accepted values. */
export function oneOf(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

export function wrongTag(path: string, tag: unknown, expected: readonly string[]): Problem {
  const list = expected.map((name) => `'${name}'`).join(', ')
  const found = `Input tag '${String(tag)}' found using 'type' does not match any of the expected tags`
  return invalid(`${path}: ${found}: ${list}`)
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value
  for (const key of path) {
    if (Array.isArray(found)) found = found[Number(key)]
    else found = isObject(found) ? found[String(key)] : undefined
  }
  return found
}
