// Lost facts, the user's words, and restored context.
import type { CompactionData } from '../../data/api.ts'
import { count, dateTime, oneLine, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { doubtNames, lostNames } from '../parts/names.ts'
import { Original } from '../parts/original.tsx'
import { ShortList } from '../parts/short-list.tsx'
import { nothingGone, unknownInWords } from '../session/side.tsx'

/** Small, so that input and output begin on the same screen. */
const maxShown = 5

type ListProps = { readonly id: string; readonly data: CompactionData }

export function Gone({ id, data }: ListProps) {
  if (data.gone.length === 0)
    return <p className="message">{data.unknown === null ? nothingGone : unknownInWords[data.unknown]}</p>
  return (
    <ShortList of={data.gone} max={maxShown}>
      {(fact, at) => (
        <li key={at}>
          <span className={fact.isSettled ? 'chip' : 'chip bad'}>{lostNames[fact.type]}</span>{' '}
          {fact.isSettled ? <span className="chip good">settled later</span> : null}{' '}
          <Link to={sessionLink(id, { at: fact.item ?? undefined })} className="quote quiet">
            {oneLine(fact.text).slice(0, 600)}
          </Link>
          {fact.about === null ? null : <div className="soft quote">About: {oneLine(fact.about).slice(0, 300)}</div>}
          {fact.cause === null ? null : (
            <div className="soft quote">Found out: {oneLine(fact.cause).slice(0, 300)}</div>
          )}
          <div className="remarks soft">
            <span>line {count(fact.line)}</span>
            <span>{dateTime(fact.time)}</span>
            {fact.item === null ? null : <Original id={id} item={fact.item} />}
          </div>
        </li>
      )}
    </ShortList>
  )
}

const foundNames = {
  verbatim: { text: 'word for word', style: 'chip good' },
  similar: { text: 'in similar words', style: 'chip warn' },
  missing: { text: 'not found', style: 'chip bad' },
} as const

export function Words({ id, data }: ListProps) {
  if (data.words.length === 0) return <p className="message">The user said nothing in this context.</p>
  return (
    <ShortList of={data.words} max={maxShown}>
      {({ item, text, found }, at) => (
        <li key={at}>
          <span className={foundNames[found].style}>{foundNames[found].text}</span>{' '}
          <Link to={sessionLink(id, { at: item ?? undefined })} className="quote quiet">
            {oneLine(text).slice(0, 600)}
          </Link>
        </li>
      )}
    </ShortList>
  )
}

export function Doubts({ data }: Pick<ListProps, 'data'>) {
  if (data.doubts.length === 0)
    return <p className="message">Code found no claim in the summary that the conversation contradicts.</p>
  return (
    <ShortList of={data.doubts} max={maxShown}>
      {({ type, text }, at) => (
        <li key={at} className="quote">
          <span className="chip bad">{doubtNames[type]}</span>{' '}
          {oneLine(text)
            .replace(/^[-*] /, '')
            .slice(0, 600)}
        </li>
      )}
    </ShortList>
  )
}

export function RestoredList({ id, data }: ListProps) {
  if (data.restored.length === 0) return <p className="message">The client restored nothing next to the summary.</p>
  return (
    <ShortList of={data.restored} max={maxShown}>
      {({ item, kind, title, tokens }) => (
        <li key={item} className="quote quiet">
          <span className="chip">{oneLine(kind)}</span>{' '}
          <Link to={sessionLink(id, { at: item })}>{oneLine(title) || kind}</Link>{' '}
          <span className="soft">{short(tokens)} tokens</span>
        </li>
      )}
    </ShortList>
  )
}
