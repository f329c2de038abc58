// One item of a conversation. Calls, results, thinking and everything long are folded.
import { useState } from 'react'
import type { Item, ItemBlock } from '../../data/api.ts'
import { linkTo } from '../address.ts'
import { count, dateTime, short } from '../format.ts'
import { Link } from '../parts/link.tsx'
import { itemNames } from '../parts/names.ts'
import { markdownOf, save } from '../parts/save.ts'
import { Marked } from '../parts/text.tsx'
import { useSource } from '../use-data.ts'
import { blockTitle } from './block-title.ts'
import type { Selection } from './selection.tsx'

export type ItemProps = {
  readonly session: string
  readonly item: Item
  readonly words: string
  readonly isHere: boolean
  readonly selection: Selection
}

export function ItemView({ session, item, words, isHere, selection }: ItemProps) {
  const [whole, setWhole] = useState<Item>()
  const source = useSource()
  const shown = whole ?? item
  const isCut = shown.blocks.some((block) => block.isCut)
  return (
    <article
      className={`item ${item.type} ${isHere ? 'here' : ''}`}
      aria-label={`${itemNames[item.type]}, ${item.index + 1}`}
    >
      <header>
        <input
          type="checkbox"
          aria-label={`Select item ${item.index + 1}`}
          checked={selection.has(item.index)}
          onChange={(event) =>
            selection.toggle(item.index, { isRange: (event.nativeEvent as PointerEvent).shiftKey === true })
          }
        />
        <b>{itemNames[item.type]}</b>
        {item.isLive ? <span className="chip good">in the context</span> : null}
        <span className="end">
          {item.tokens > 0 ? `${short(item.tokens)} ${item.tokens === 1 ? 'token' : 'tokens'} · ` : ''}
          {dateTime(item.time)} · line {count(item.line)}
        </span>
      </header>
      {item.compaction === null ? (
        shown.blocks.map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a record never change their order
          <Block key={at} block={block} words={words} isLong={item.type === 'summary' || item.type === 'attachment'} />
        ))
      ) : (
        <Link to={linkTo({ name: 'compaction', id: session, number: item.compaction })}>
          Compaction {item.compaction}: what went in, what came out, what is gone
        </Link>
      )}
      {isCut ? <More item={shown} onShow={setWhole} load={() => source.item(session, item.index)} /> : null}
    </article>
  )
}

/** A browser is slow with more text than this in one place. */
const maxCharacters = 500_000

type MoreProps = {
  readonly item: Item
  readonly onShow: (item: Item) => void
  readonly load: () => Promise<Item>
}

function More({ item, onShow, load }: MoreProps) {
  const longest = Math.max(...item.blocks.map(({ length }) => length))
  const shown = Math.max(...item.blocks.map(({ text }) => text.length))
  if (shown >= maxCharacters)
    return (
      <button
        type="button"
        className="plain"
        onClick={() => load().then((whole) => save(`item-${item.index + 1}.md`, markdownOf([whole])))}
      >
        Save all {count(longest)} characters
      </button>
    )
  const show = (whole: Item) =>
    onShow({
      ...whole,
      blocks: whole.blocks.map((block) =>
        block.text.length > maxCharacters ? { ...block, text: block.text.slice(0, maxCharacters), isCut: true } : block,
      ),
    })
  const label = longest > maxCharacters ? `Show the first ${count(maxCharacters)} of` : 'Show all'
  return (
    <button type="button" className="plain" onClick={() => load().then(show)}>
      {label} {count(longest)} characters
    </button>
  )
}

type BlockProps = { readonly block: ItemBlock; readonly words: string; readonly isLong: boolean }

function Block({ block, words, isLong }: BlockProps) {
  const { type, text } = block
  if (type === 'image') return <p className="soft">[image]</p>
  if (type === 'text' && text.trim() === '') return <p className="soft">(empty)</p>
  if (type === 'text' && !isLong)
    return (
      <pre>
        <Marked text={text} words={words} />
      </pre>
    )
  const isMatch = words !== '' && text.toLowerCase().includes(words.toLowerCase())
  return (
    <details className={type === 'thinking' ? 'fold' : 'fold code'} open={isMatch}>
      <summary>
        {blockTitle(block)} {block.isError ? <span className="chip bad">error</span> : null}
      </summary>
      <pre>
        <Marked text={text} words={words} />
      </pre>
    </details>
  )
}
