// Asks a person yes or no on the terminal.
import { createInterface } from 'node:readline/promises'
import type { Io } from './io.ts'

/** `cannot-ask`: input or output is not a terminal. */
export async function confirm(question: string, { stdin, stdout }: Io): Promise<'yes' | 'no' | 'cannot-ask'> {
  if (stdout.isTTY !== true || (stdin as { readonly isTTY?: boolean }).isTTY !== true) return 'cannot-ask'
  const lines = createInterface({ input: stdin, output: stdout })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim()) ? 'yes' : 'no'
  } finally {
    lines.close()
  }
}
