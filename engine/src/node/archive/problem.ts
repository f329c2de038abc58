// Explains errors caused by the contents of a folder. All other errors are bugs and are thrown again.
import { diskProblem } from '../write/disk.ts'
import { isDatabaseError } from './database.ts'

/** Text that is too long or nested too deeply, however often it is read. */
export function sizeProblem(error: unknown): string {
  if (isTooMuch(error)) return error.message
  throw error
}

/** The same, or a disk error. */
export function contentProblem(error: unknown): string {
  return isTooMuch(error) ? error.message : diskProblem(error).message
}

const sqliteTooBig = 18

function isTooMuch(error: unknown): error is Error {
  if (isDatabaseError(error)) return (error.errcode & 0xff) === sqliteTooBig
  const isTooLong = error instanceof Error && 'code' in error && error.code === 'ERR_STRING_TOO_LONG'
  return isTooLong || error instanceof RangeError
}
