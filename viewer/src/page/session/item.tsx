// One item of a conversation. Calls, results, thinking and everything long are folded.
import { useState } from 'react'
import type { Item, ItemBlock } from '../../data/api.ts'
import { linkTo } from '../address.ts'
import { count, counted, dateTime, oneLine, short, visible } from '../format.ts'
import { Link } from '../parts/link.tsx'
import { itemNames } from '../parts/names.ts'
import { Marked } from '../parts/text.tsx'
import { useSource } from '../use-data.ts'
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
          {item.tokens > 0 ? `${short(item.tokens)} tokens · ` : ''}
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
      {isCut ? (
        <button type="button" className="plain" onClick={() => source.item(session, item.index).then(setWhole)}>
          Show all {count(Math.max(...shown.blocks.map(({ length }) => length)))} characters
        </button>
      ) : null}
    </article>
  )
}

type BlockProps = { readonly block: ItemBlock; readonly words: string; readonly isLong: boolean }

function Block({ block, words, isLong }: BlockProps) {
  const { type, text } = block
  if (type === 'image') return <p className="soft">[image]</p>
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
        {titleOf(block)}
        {block.isError ? <span className="chip bad">error</span> : null}
      </summary>
      <pre>
        <Marked text={text} words={words} />
      </pre>
    </details>
  )
}

function titleOf({ type, tool, text, length }: ItemBlock): string {
  const size = length > 400 ? ` (${counted(length, 'character')})` : ''
  if (type === 'thinking') return text === '' ? 'Thinking, stored without its text' : `Thinking${size}`
  const start = oneLine(visible(type === 'call' ? valuesIn(text) : text).slice(0, 400)).slice(0, 140)
  const name = type === 'call' ? `${tool} ` : type === 'result' && tool !== null ? `${tool} → ` : ''
  return `${oneLine(name)} ${start}${size}`.trim()
}

/** `{ "command": "make" }` reads better as `make`. */
function valuesIn(text: string): string {
  const [, value] = /^\{\s*"\w+":\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? []
  return value ?? text
}
