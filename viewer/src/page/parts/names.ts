// What the kinds of items, lost facts and doubtful claims are called.
import type { Doubt, Item, LostItem } from '../../data/api.ts'

export const itemNames: Readonly<Record<Item['type'], string>> = {
  user: 'User',
  agent: 'Agent',
  assistant: 'Assistant',
  result: 'Result',
  summary: 'Summary',
  attachment: 'Added context',
  meta: 'Client',
  compaction: 'Compaction',
  edit: 'Edit',
  note: 'Note',
}

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
