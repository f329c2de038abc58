// Records that show which process wrote them, in what order, and whether they are whole.
import { createHash } from 'node:crypto'

export type NumberedRecord = {
  readonly name: string
  readonly seq: number
  readonly token: string
  readonly text: string
  readonly sum: string
}

export function sumOf(record: Omit<NumberedRecord, 'sum'>): string {
  return createHash('sha256').update(`${record.name} ${record.seq} ${record.token} ${record.text}`).digest('hex')
}
