// What the kinds of lost facts and of doubtful claims are called.
import type { Doubt, LostItem } from '../../data/api.ts'

export const lostNames: Readonly<Record<LostItem['type'], string>> = {
  rule: 'instruction',
  decision: 'decision',
  request: 'request',
  failure: 'failure',
  command: 'command',
  file: 'file',
}

export const doubtNames: Readonly<Record<Doubt['type'], string>> = {
  approval: 'no such approval on record',
  quote: 'not found in the user’s messages',
  state: 'last seen otherwise',
  name: 'not found in the conversation',
}
