// What went into a compaction, by kind and message by message.
import { clippedAtWord } from 'everlong/internal'
import type { CompactionData, ContextPart } from '../../data/api.ts'
import { count, counted, oneLine, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { blockTitle } from '../session/block-title.ts'
import { useItems } from '../session/use-items.ts'

const kindNames: Readonly<Record<string, string>> = {
  'human-messages': 'user',
  'assistant-text': 'assistant',
  thinking: 'thinking',
  'tool-requests': 'calls',
  'tool-results': 'results',
  attachments: 'files and added context',
  images: 'images',
  summaries: 'summaries',
  'injected-text': 'notes of the client',
  other: 'other',
}

export function PartKinds({ part }: { readonly part: ContextPart }) {
  const most = Math.max(1, ...part.kinds.map(({ tokens }) => tokens))
  return (
    <div className="kinds">
      {part.kinds.map(({ kind, tokens }) => (
        <div key={kind} style={{ display: 'contents' }}>
          <span>{kindNames[kind] ?? kind}</span>
          <svg viewBox="0 0 100 6" preserveAspectRatio="none" width="100%" height="6" aria-hidden="true">
            <rect className="fill-system" width={(tokens / most) * 100} height="6" rx="1" />
          </svg>
          <span className="number">{short(tokens)}</span>
        </div>
      ))}
    </div>
  )
}

/** A screen or two of the newest; the conversation has all. */
const maxShown = 60

export function WentIn({ id, data }: { readonly id: string; readonly data: CompactionData }) {
  const { before, after } = data
  const kept = new Set(after.items)
  const shown = before.items.slice(-maxShown)
  const itemAt = useItems(id, shown, 0)
  return (
    <section className="card" aria-label="What went in">
      <header>
        <h2>What went in</h2>
        <span className="soft">
          {counted(before.items.length, 'item')} with {count(before.tokens)} tokens
        </span>
      </header>
      <div className="body stack">
        <PartKinds part={before} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard */}
      <section className="tall" tabIndex={0} aria-label="Items that went in">
        <ul className="list">
          {before.items.length > maxShown ? (
            <li className="soft">
              {counted(before.items.length - maxShown, 'earlier item')}:{' '}
              <Link to={sessionLink(id, { at: before.items[0] })}>show in the conversation</Link>
            </li>
          ) : null}
          {shown.map((index) => {
            const item = itemAt(index)
            const text = item?.blocks.map(blockTitle).join(' ') ?? '…'
            return (
              <li key={index} className="quote">
                <span className="chip">{item?.type ?? ''}</span>{' '}
                {kept.has(index) ? <span className="chip good">kept</span> : null}{' '}
                <Link to={sessionLink(id, { at: index })} className="quiet">
                  {clippedAtWord(oneLine(text), 200) || '(empty)'}
                </Link>{' '}
                <span className="soft">{item && item.tokens > 0 ? short(item.tokens) : ''}</span>
              </li>
            )
          })}
        </ul>
      </section>
    </section>
  )
}
