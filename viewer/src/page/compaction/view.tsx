// One compaction: what is gone, found and restored; below it what went in on the left and what came out on the right.
import type { ReactNode } from 'react'
import type { CompactionData } from '../../data/api.ts'
import { go, linkTo, withQuery } from '../address.ts'
import { count, counted, dateTime, dollars, duration, oneLine, short } from '../format.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Link, sessionLink } from '../parts/link.tsx'
import { Place } from '../parts/place.tsx'
import { Remarks } from '../parts/remarks.tsx'
import { type Figure, Figures, Status } from '../parts/status.tsx'
import { unknownInWords } from '../session/side.tsx'
import { useData, useSource, useVersion } from '../use-data.ts'
import { AlternativeView } from './alternative.tsx'
import { Doubts, Gone, RestoredList, Words } from './lists.tsx'
import { CameOut, PartKinds, WentIn } from './parts.tsx'
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
      <Remarks
        of={[
          row.isUndone ? (
            <span key="undone" className="chip warn">
              undone
            </span>
          ) : (
            ''
          ),
          row.trigger === 'unknown' ? '' : oneLine(row.trigger),
          dateTime(row.time),
          <Link key="place" to={sessionLink(id, { at: row.item })}>
            show in the conversation
          </Link>,
        ]}
      />
      <UndoButton id={id} row={row} />
      <Figures
        of={[
          ['Before', ...sizeOf(row.tokensBefore, before.tokens)],
          ['After', ...sizeOf(row.tokensAfter, after.tokens)],
          goneFigure(data),
          ['User’s words', `${count(data.words.length - missing)} of ${count(data.words.length)}`, 'found'],
          ['Doubtful claims', count(data.doubts.length), undefined, data.doubts.length > 0 ? 'bad' : undefined],
          [
            'Summary request',
            dollars(price.asking),
            price.isEstimated && price.asking !== null ? 'estimated' : undefined,
          ],
          ['Cache rewrite', dollars(price.rewriting)],
          ['Duration', row.milliseconds === null ? 'unknown' : duration(row.milliseconds)],
        ]}
      />
      {data.unknown === null || data.gone.length === 0 ? null : <p className="warn">{unknownInWords[data.unknown]}</p>}
      <Tabs id={id} data={data} chosen={query.get('tab') ?? 'gone'} />
      <div className="pair">
        <WentIn id={id} data={data} />
        <section className="card" aria-label="What came out">
          <header>
            <h2>What came out</h2>
            <span className="soft">
              {counted(after.messages, 'message')}, {count(after.tokens)} tokens without system and tools
            </span>
          </header>
          <div className="body stack">
            <PartKinds part={after} />
            <Summary id={id} data={data} />
          </div>
          <CameOut id={id} data={data} />
        </section>
      </div>
    </>
  )
}

function goneFigure({ gone, unknown }: CompactionData): Figure {
  if (unknown === 'unreadable-summary') return ['Gone', 'unknown']
  const settled = gone.filter(({ isSettled }) => isSettled).length
  return [
    'Gone',
    count(gone.length),
    settled === 0 ? undefined : `${count(settled)} settled later`,
    gone.length > settled ? 'bad' : undefined,
  ]
}

/** What the client recorded includes its system prompt and tools. */
function sizeOf(recorded: number | null, estimated: number): readonly [value: string, remark: string] {
  return recorded === null ? [short(estimated), 'tokens, estimated'] : [short(recorded), 'tokens']
}

type TabsProps = { readonly id: string; readonly data: CompactionData; readonly chosen: string }

function Tabs({ id, data, chosen }: TabsProps) {
  const tabs: readonly (readonly [name: string, label: string, content: () => ReactNode])[] = [
    [
      'gone',
      data.unknown === 'unreadable-summary' ? 'Gone' : `Gone (${count(data.gone.length)})`,
      () => <Gone id={id} data={data} />,
    ],
    ['words', `The user’s words (${count(data.words.length)})`, () => <Words id={id} data={data} />],
    ['doubts', `Doubtful claims (${count(data.doubts.length)})`, () => <Doubts data={data} />],
    ['restored', `Restored (${count(data.restored.length)})`, () => <RestoredList id={id} data={data} />],
    ['everlong', 'What Everlong would have left', () => <AlternativeView id={id} data={data} />],
  ]
  const [, , content] = tabs.find(([name]) => name === chosen) ?? tabs[0] ?? ['', '', () => null]
  return (
    <section className="card" aria-label="What is gone and what is left">
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
