// What Everlong would have left of the same conversation, computed now and without a model.
import type { CompactionData } from '../../data/api.ts'
import { count, oneLine, short, visible } from '../format.ts'
import { Status } from '../parts/status.tsx'
import { useData, useSource } from '../use-data.ts'

export function AlternativeView({ id, data }: { readonly id: string; readonly data: CompactionData }) {
  const source = useSource()
  const { number, tokensBefore, tokensAfter } = data.row
  const loaded = useData(`alternative ${id} ${number}`, () => source.alternative(id, number))
  if (!loaded.data) return <Status of={loaded} what="the conversation, without a model" />
  const { data: made } = loaded
  if (made.type === 'declined')
    return <p className="message">Everlong would not have compacted here: {oneLine(made.why)}</p>
  const { words } = made
  return (
    <div className="body stack">
      <p>
        Without a model: <b>{short(made.tokensBefore)}</b> → <b>{short(made.tokensAfter)}</b> tokens. Recorded:{' '}
        {tokensBefore === null ? '?' : short(tokensBefore)} → {tokensAfter === null ? '?' : short(tokensAfter)}. User
        messages word for word: <b>{count(words.here)}</b> of {count(words.all)}; in the recorded context{' '}
        {count(words.recorded)}.
      </p>
      {made.restored.length > 0 ? (
        <p className="soft quote">Restored: {made.restored.map(oneLine).join('; ')}</p>
      ) : null}
      {made.messages.map(({ role, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages never change their order
        <section key={at} aria-label={`Message of the ${role}`}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by keyboard */}
          <pre className="tall" tabIndex={0}>
            {visible(text)}
          </pre>
        </section>
      ))}
    </div>
  )
}
