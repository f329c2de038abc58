// Made-up messages of ours for the converters' properties.
import fc from 'fast-check'
import type { Block } from '../../core/message/message.ts'
import type { Converted } from '../history/converter.ts'

const words = fc.string({ minLength: 1 })
const textBlock: fc.Arbitrary<Block> = fc.record({ type: fc.constant('text'), text: words })
const imageBlock: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('image'),
  source: fc.record({
    type: fc.constant('base64'),
    media_type: fc.constantFrom('image/png', 'image/jpeg'),
    data: fc.base64String({ minLength: 4 }),
  }),
})
const input = fc.dictionary(words, fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)))

export type MessageChoices = {
  readonly media: boolean
  /** Where images are allowed. Chat completions do not accept them in results. */
  readonly images: 'user' | 'all'
}

/** Answers with text and calls, prompts with images, results. Results come first, as in every request. */
export function ourMessage({ media, images }: MessageChoices): fc.Arbitrary<Converted> {
  const shown = media ? fc.oneof(textBlock, imageBlock) : textBlock
  const result: fc.Arbitrary<Block> = fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: fc.uuid(),
    content: fc.oneof(fc.string(), fc.array(images === 'all' ? shown : textBlock, { minLength: 1 })),
  })
  const call: fc.Arbitrary<Block> = fc.record({ type: fc.constant('tool_use'), id: fc.uuid(), name: words, input })
  const answer = fc.tuple(fc.array(textBlock, { maxLength: 2 }), fc.array(call, { maxLength: 3 }))
  const side = fc.tuple(fc.array(result, { maxLength: 3 }), fc.array(shown, { maxLength: 3 }))
  const isSome = ({ content }: Converted) => content.length > 0
  return fc.oneof(
    answer.map(([said, calls]): Converted => ({ role: 'assistant', content: [...said, ...calls] })).filter(isSome),
    side.map(([results, said]): Converted => ({ role: 'user', content: [...results, ...said] })).filter(isSome),
  )
}

const known = new Set(['text', 'image', 'document', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'])

/** True if the Messages API would refuse a block of this type. */
export function foreignOnly(type: string): boolean {
  return !known.has(type)
}
