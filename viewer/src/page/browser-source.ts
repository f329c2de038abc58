// A pasted transcript as a source: everything is computed in the browser, and nothing leaves it.
import { decodeLine } from 'everlong/internal'
import { transcriptOfRecords } from 'everlong/internal/compaction'
import { createSessionView } from '../data/session.ts'
import { type Source, SourceError } from './source.ts'

const id = 'pasted'

/** Throws a SourceError if the text contains no conversation. */
export function browserSource(text: string): Source {
  const records = text.split('\n').flatMap((line) => decodeLine(line).records)
  const transcript = transcriptOfRecords(records, '')
  const view = createSessionView({
    row: { id, path: 'pasted transcript', bytes: new Blob([text]).size, modified: Date.now() },
    transcript,
    before: (uuid) => transcriptOfRecords(records, '', uuid),
    env: {},
    now: Date.now,
    newId: () => crypto.randomUUID(),
  })
  const { conversation } = view
  if (conversation.count === 0) throw new SourceError('No message of a conversation was found in this text.')
  const orMissing = <T>(found: T | undefined): T => {
    if (found === undefined) throw new SourceError('There is no such thing in this session.')
    return found
  }
  return {
    overview: () => Promise.reject(new SourceError('There is only one session here.')),
    session: async () => view.data(),
    lost: async () => view.lost(),
    window: async () => view.window(),
    agents: async () => [],
    items: async (_, from, count) => ({ from, items: conversation.page(from, count) }),
    item: async (_, item) => orMissing(conversation.whole(item)),
    find: async (_, words) => conversation.find(words, 500),
    place: async (_, uuid) => ({ item: conversation.indexOf(uuid) ?? null }),
    compaction: async (_, number) => orMissing(view.compaction(number)),
    alternative: async (_, number) => orMissing(await view.alternative(number)),
    search: () => Promise.reject(new SourceError('There is only one session here.')),
    listen: () => () => undefined,
    only: id,
  }
}
