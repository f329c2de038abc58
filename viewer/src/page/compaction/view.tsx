// One compaction: what went in on the left, what came out on the right, and below what became of the user's words and facts.
import type { ReactNode } from 'react'
import type { CompactionData } from '../../data/api.ts'
import { go, linkTo, withQuery } from '../address.ts'
import { count, counted, dateTime, dollars, duration, oneLine, short } from '../format.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Link, sessionLink } from '../parts/link.tsx'
import { Place } from '../parts/place.tsx'
import { Figures, Status } from '../parts/status.tsx'
import { unknownInWords } from '../session/side.tsx'
import { useData, useSource, useVersion } from '../use-data.ts'
import { AlternativeView } from './alternative.tsx'
import { Gone, RestoredList, Words } from './lists.tsx'
import { PartKinds, WentIn } from './parts.tsx'
import { Summary } from './summary.tsx'
import { UndoButton } from './undo.tsx'

export type CompactionProps = { readonly id: string; readonly number: number; readonly query: URLSearchParams }

export function CompactionView({ id, number, query }: CompactionProps) {
  const source = useSource()
  const version = useVersion(id)
  const loaded = useData(`compaction ${id} ${number}`, () => source.compaction(id, number), version)
  const session = useData(`session ${id}`, () => source.session(id), version)
  const { data } = loaded
  const all = session.data?.compactions.length ?? number
  return (
    <>
      <Place>
        <Link to={sessionLink(id)} className="one-line">
          {oneLine(session.data?.row.facts?.title || 'Session')}
        </Link>
        <span className="soft" aria-hidden="true">
          /
        </span>
        <span className="whole">Compaction {number}</span>
      </Place>
      <div className="row spread">
        <h1>
          Compaction {number} of {all}
        </h1>
        <span className="row">
          {number > 1 ? <Link to={linkTo({ name: 'compaction', id, number: number - 1 })}>← Previous</Link> : null}
          {number < all ? <Link to={linkTo({ name: 'compaction', id, number: number + 1 })}>Next →</Link> : null}
        </span>
      </div>
      {data ? <Shown id={id} data={data} query={query} /> : <Status of={loaded} what="the compaction" />}
    </>
  )
}

function Shown({
  id,
  data,
  query,
}: {
  readonly id: string
  readonly data: CompactionData
  readonly query: URLSearchParams
}) {
  const { row, before, after, price } = data
  const missing = data.words.filter(({ found }) => found === 'missing').length
  return (
    <>
      <p className="soft">
        {[row.trigger === 'unknown' ? '' : oneLine(row.trigger), dateTime(row.time)]
          .filter((part) => part !== '')
          .join(' · ')}{' '}
        · <Link to={sessionLink(id, { at: row.item })}>show in the conversation</Link>
        {row.isUndone ? <span className="chip">undone</span> : null}
      </p>
      <UndoButton id={id} row={row} />
      <Figures
        of={[
          ['Before', ...sizeOf(row.tokensBefore, before.tokens)],
          ['After', ...sizeOf(row.tokensAfter, after.tokens)],
          ['Gone', count(data.gone.length), 'that may still matter: listed below'],
          ['User’s words', `${count(data.words.length - missing)} of ${count(data.words.length)}`, 'found again'],
          ['Doubtful claims', count(data.doubts.length)],
          [
            'Asking for it',
            dollars(price.asking),
            price.isEstimated && price.asking !== null ? 'estimated' : undefined,
          ],
          ['Caching it', dollars(price.rewriting)],
          ['Time', row.milliseconds === null ? 'unknown' : duration(row.milliseconds)],
        ]}
      />
      {data.unknown === null ? null : <p className="warn">{unknownInWords[data.unknown]}</p>}
      <div className="pair">
        <WentIn id={id} data={data} />
        <section className="card" aria-label="What came out">
          <header>
            <h2>What came out</h2>
            <span className="soft">
              {counted(after.messages, 'message')} with {count(after.tokens)} tokens
            </span>
          </header>
          <div className="body stack">
            <PartKinds part={after} />
            <Summary id={id} data={data} />
          </div>
        </section>
      </div>
      <Tabs id={id} data={data} chosen={query.get('tab') ?? 'gone'} />
    </>
  )
}

/** What the client recorded includes its system prompt and tools. */
function sizeOf(recorded: number | null, estimated: number): readonly [value: string, remark: string] {
  return recorded === null
    ? [short(estimated), 'tokens, estimated']
    : [short(recorded), 'tokens, with system and tools']
}

type TabsProps = { readonly id: string; readonly data: CompactionData; readonly chosen: string }

function Tabs({ id, data, chosen }: TabsProps) {
  const tabs: readonly (readonly [name: string, label: string, content: () => ReactNode])[] = [
    ['gone', `Gone (${count(data.gone.length)})`, () => <Gone id={id} data={data} />],
    ['words', `The user’s words (${count(data.words.length)})`, () => <Words id={id} data={data} />],
    ['restored', `Restored (${count(data.restored.length)})`, () => <RestoredList id={id} data={data} />],
    ['everlong', 'What Everlong would have left', () => <AlternativeView id={id} data={data} />],
  ]
  const [, , content] = tabs.find(([name]) => name === chosen) ?? tabs[0] ?? ['', '', () => null]
  return (
    <section className="card" aria-label="What became of it">
      <header>
        <fieldset className="tabs" aria-label="What to show">
          {tabs.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === chosen}
              onClick={() => go(withQuery({ tab: name === 'gone' ? undefined : name }), 'replace')}
            >
              {label}
            </button>
          ))}
        </fieldset>
        {data.gone.length === 0 ? null : (
          <CopyButton text={() => data.gone.map(({ text }) => `- ${text}`).join('\n')} label="Copy what is gone" />
        )}
      </header>
      {content()}
    </section>
  )
}
