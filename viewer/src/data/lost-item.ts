// A fact that a compaction lost, as the page shows it.
import type { lostIn } from 'everlong/internal/compaction'
import type { LostItem } from './api.ts'
import type { Conversation } from './conversation.ts'
import { parsed } from './facts.ts'

type LostFact = ReturnType<typeof lostIn>['facts'][number]

export function lostItem(fact: LostFact, conversation: Conversation): LostItem {
  const { type, text, about, cause, by, uuid, line, time, compaction } = fact
  return {
    ...{ type, text, uuid, line, compaction },
    about: about ?? null,
    cause: cause ?? null,
    by: by ?? null,
    item: conversation.indexOf(uuid) ?? null,
    time: parsed(time) ?? null,
  }
}
