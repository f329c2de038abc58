// What may be wrong with the contents of a folder, in words. Anything else is a fault of ours and is thrown.
import { diskProblem } from '../write/disk.ts'
import { isDatabaseError } from './database.ts'

/** A text longer than a string can be, a value nested too deeply: it stays so however often it is read. */
export function sizeProblem(error: unknown): string {
  if (isTooMuch(error)) return error.message
  throw error
}

/** The same, or what the system says of a file. */
export function contentProblem(error: unknown): string {
  return isTooMuch(error) ? error.message : diskProblem(error).message
}

const sqliteTooBig = 18

function isTooMuch(error: unknown): error is Error {
  if (isDatabaseError(error)) return (error.errcode & 0xff) === sqliteTooBig
  const isTooLong = error instanceof Error && 'code' in error && error.code === 'ERR_STRING_TOO_LONG'
  return isTooLong || error instanceof RangeError
}
