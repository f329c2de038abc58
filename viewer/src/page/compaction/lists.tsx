// What is gone, the words of the user, and what was restored.
import type { CompactionData } from '../../data/api.ts'
import { count, dateTime, oneLine, short } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { lostNames } from '../parts/names.ts'
import { Original } from '../parts/original.tsx'

type ListProps = { readonly id: string; readonly data: CompactionData }

export function Gone({ id, data }: ListProps) {
  if (data.gone.length === 0) return <p className="message">Nothing that code can tell.</p>
  return (
    <ul className="list">
      {data.gone.map((fact, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list keeps its order, and without content texts are equal
        <li key={at}>
          <span className={fact.isBack ? 'chip' : 'chip bad'}>{lostNames[fact.type]}</span>{' '}
          {fact.isBack ? <span className="chip good">said again later</span> : null}{' '}
          <Link to={sessionLink(id, { at: fact.item ?? undefined })} className="quote quiet">
            {oneLine(fact.text).slice(0, 600)}
          </Link>
          <div className="soft quote">
            {[
              fact.about === null ? '' : `about: ${oneLine(fact.about).slice(0, 300)}`,
              fact.cause === null ? '' : `found out: ${oneLine(fact.cause).slice(0, 300)}`,
              `line ${count(fact.line)}`,
              dateTime(fact.time),
            ]
              .filter((part) => part !== '')
              .join(' · ')}
          </div>
          {fact.item === null ? null : <Original id={id} item={fact.item} />}
        </li>
      ))}
    </ul>
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
    <ul className="list">
      {data.words.map(({ item, text, found }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list keeps its order, and without content texts are equal
        <li key={at}>
          <span className={foundNames[found].style}>{foundNames[found].text}</span>{' '}
          <Link to={sessionLink(id, { at: item ?? undefined })} className="quote quiet">
            {oneLine(text).slice(0, 600)}
          </Link>
        </li>
      ))}
    </ul>
  )
}

export function RestoredList({ id, data }: ListProps) {
  if (data.restored.length === 0) return <p className="message">The client restored nothing next to the summary.</p>
  return (
    <ul className="list">
      {data.restored.map(({ item, kind, title, tokens }) => (
        <li key={item} className="quote quiet">
          <span className="chip">{oneLine(kind)}</span>{' '}
          <Link to={sessionLink(id, { at: item })}>{oneLine(title) || kind}</Link>{' '}
          <span className="soft">{short(tokens)} tokens</span>
        </li>
      ))}
    </ul>
  )
}
