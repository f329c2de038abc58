// The summary, sentence by sentence. Clicking a sentence shows messages that say the same; doubtful ones are marked.
import { useState } from 'react'
import type { CompactionData, SummarySentence } from '../../data/api.ts'
import { count, oneLine, percent, visible } from '../format.ts'
import { Link, sessionLink } from '../parts/link.tsx'
import { doubtNames } from '../parts/names.ts'

export function Summary({ id, data }: { readonly id: string; readonly data: CompactionData }) {
  const [open, setOpen] = useState('')
  const sentences = data.summary.flatMap(({ sentences }) => sentences)
  const checked = sentences.filter(({ sources }) => sources !== null)
  const found = checked.filter(({ sources }) => (sources?.length ?? 0) > 0).length
  if (sentences.every(({ text }) => text.trim() === '')) return <p className="message">The summary cannot be read.</p>
  return (
    <>
      <p className="soft">
        Click a sentence to see its sources: code found some for {count(found)} of {count(checked.length)}. Dotted: no
        source found, which proves nothing. Red: a claim that the conversation does not support.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by keyboard */}
      <section className="summary-text tall" tabIndex={0} aria-label="The summary">
        {data.summary.map(({ isHeading, sentences }, line) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text never change their order
          <p key={line} className={isHeading ? 'heading' : ''}>
            {sentences.map((sentence, at) => {
              const key = `${line} ${at}`
              return (
                <Sentence
                  key={key}
                  id={id}
                  sentence={sentence}
                  isOpen={open === key}
                  onToggle={() => setOpen(open === key ? '' : key)}
                />
              )
            })}
          </p>
        ))}
      </section>
    </>
  )
}

type SentenceProps = {
  readonly id: string
  readonly sentence: SummarySentence
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function Sentence({ id, sentence: { text, sources, doubts }, isOpen, onToggle }: SentenceProps) {
  if (sources === null && doubts.length === 0) return <Inline text={visible(text)} />
  const state = doubts.length > 0 ? 'doubtful' : sources && sources.length > 0 ? 'found' : 'unfound'
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a button does not break over lines as text does */}
      <span
        role="button"
        tabIndex={0}
        className={`sentence ${state}`}
        aria-expanded={isOpen}
        onClick={onToggle}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return
          event.preventDefault()
          onToggle()
        }}
      >
        <Inline text={visible(text)} />
      </span>
      {isOpen ? (
        <span className="sources">
          {doubts.map((doubt) => (
            <span key={doubt} className="bad">
              {doubtNames[doubt]}{' '}
            </span>
          ))}
          {sources === null || sources.length === 0 ? (
            <span className="soft">Code found no message that says this.</span>
          ) : null}
          {sources?.map(({ item, share, snippet }) => (
            <span key={item} style={{ display: 'block' }}>
              <Link to={sessionLink(id, { at: item })}>Item {count(item + 1)}</Link>{' '}
              <span className="soft">{percent(share)} of the words</span> {oneLine(snippet)}
            </span>
          ))}
        </span>
      ) : null}
    </>
  )
}

/** Bold and code of Markdown, as elements. Everything else stays as it is. */
function Inline({ text }: { readonly text: string }) {
  return text.split(/(\*\*[^*\n]+\*\*|`[^`\n]+`)/).map((part, at) => {
    // Every second part is a match.
    if (at % 2 === 0) return part
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
    return part.startsWith('*') ? <b key={at}>{part.slice(2, -2)}</b> : <code key={at}>{part.slice(1, -1)}</code>
  })
}
