// The input and output of a compaction, by kind and item by item.
import { clippedAtWord } from 'everlong/internal'
import type { Band, CompactionData, ContextPart, Item } from '../../data/api.ts'
import { count, counted, oneLine, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { itemNames } from '../parts/names.ts'
import { Original } from '../parts/original.tsx'
import { ShortList } from '../parts/short-list.tsx'
import { blockTitle } from '../session/block-title.ts'
import { useItems } from '../session/use-items.ts'

/** Names and colors as in the chart of the session. */
const kinds: Readonly<Record<string, readonly [name: string, band: Band]>> = {
  'human-messages': ['user', 'user'],
  'assistant-text': ['assistant', 'assistant'],
  thinking: ['thinking', 'thinking'],
  'tool-requests': ['calls', 'assistant'],
  'tool-results': ['results', 'results'],
  attachments: ['files and added context', 'files'],
  images: ['images', 'results'],
  summaries: ['summaries', 'summaries'],
  'injected-text': ['notes of the client', 'files'],
}

export function PartKinds({ part }: { readonly part: ContextPart }) {
  const most = Math.max(1, ...part.kinds.map(({ tokens }) => tokens))
  return (
    <div className="kinds">
      {part.kinds.map(({ kind, tokens }) => (
        <div key={kind} style={{ display: 'contents' }}>
          <span>{kinds[kind]?.[0] ?? kind}</span>
          <svg viewBox="0 0 100 6" preserveAspectRatio="none" width="100%" height="6" aria-hidden="true">
            <rect className={`fill-${kinds[kind]?.[1] ?? 'system'}`} width={(tokens / most) * 100} height="6" rx="1" />
          </svg>
          <span className="number">{short(tokens)}</span>
        </div>
      ))}
    </div>
  )
}

/** A screen or two of the newest items. The conversation has all. */
const maxShown = 60

type PartProps = { readonly id: string; readonly data: CompactionData }

export function WentIn({ id, data: { before, after } }: PartProps) {
  const kept = new Set(after.items)
  const shown = before.items.slice(-maxShown)
  const itemAt = useItems(id, shown, 0)
  return (
    <section className="card" aria-label="What went in">
      <header>
        <h2>What went in</h2>
        <span className="soft">
          {counted(before.items.length, 'item')}, {count(before.tokens)} tokens without system and tools
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
          {shown.map((index) => (
            <li key={index} className="quote">
              <ItemLine id={id} index={index} item={itemAt(index)} isKept={kept.has(index)} />
            </li>
          ))}
        </ul>
      </section>
    </section>
  )
}

/** The items of the new context, each with its whole text on demand. */
export function CameOut({ id, data: { after } }: PartProps) {
  const itemAt = useItems(id, after.items, 0)
  return (
    <ShortList of={after.items} max={maxAfter}>
      {(index) => (
        <li key={index} className="quote">
          <ItemLine id={id} index={index} item={itemAt(index)} isKept={false} />
          <div className="remarks">
            <Original id={id} item={index} what="the whole text" />
          </div>
        </li>
      )}
    </ShortList>
  )
}

/** The summary and restored context; kept messages are listed with the input. */
const maxAfter = 8

type ItemLineProps = {
  readonly id: string
  readonly index: number
  readonly item: Item | undefined
  readonly isKept: boolean
}

function ItemLine({ id, index, item, isKept }: ItemLineProps) {
  const text = item?.blocks.map(blockTitle).join(' ') ?? '…'
  return (
    <>
      <span className="chip">{item ? itemNames[item.type].toLowerCase() : '…'}</span>{' '}
      {isKept ? <span className="chip good">kept</span> : null}{' '}
      <Link to={sessionLink(id, { at: index })} className="quiet">
        {clippedAtWord(oneLine(text), 200) || '(empty)'}
      </Link>{' '}
      <span className="soft">{item && item.tokens > 0 ? `${short(item.tokens)} tokens` : ''}</span>
    </>
  )
}
