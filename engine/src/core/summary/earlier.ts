// What an earlier summary still has to say: its prose by section, without the parts that code writes anew each time. So
// summaries chain and never nest.

import { textOf } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { proseBlocks } from './blocks.ts'
import { codeMade, factsHeading, latestHeading } from './marks.ts'
import { readSections, type SectionNumber } from './sections.ts'

export type EarlierLine = { readonly section: SectionNumber; readonly text: string; readonly order: number }

/** Of a summary that a model wrote: its lines. Of one that code made: what the assistant reported. */
export function earlierLines(messages: readonly ViewMessage[]): readonly EarlierLine[] {
  const summary = messages.findLast(({ origin }) => origin === 'summary')
  if (!summary) return []
  const text = withoutOurParts(textOf(summary.content))
  const isOurs = text.includes(codeMade)
  const { sections } = readSections(text)
  return sections.flatMap(({ number, body }) =>
    number === 6 && isOurs
      ? []
      : proseBlocks(body)
          .filter(({ text: words, isCode }) => (isOurs ? /^- reported: /.test(words) : !isCode))
          .map((block, order) => ({ section: number, text: block.text, order })),
  )
}

function withoutOurParts(text: string): string {
  const ends = [factsHeading, latestHeading].map((heading) => text.indexOf(`\n${heading}`)).filter((at) => at >= 0)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}
