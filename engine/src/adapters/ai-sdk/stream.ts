// A stream that begins again, once, when the provider says only inside the stream that the prompt was too long. After the
// first piece of the answer nothing can be taken back: then an error passes as it is.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

type Parts = ReadableStream<LanguageModelV4StreamPart>
type Read = { readonly done: boolean; readonly value?: LanguageModelV4StreamPart | undefined }

export type Recovering = {
  /** The stream of the second try; undefined when there is none. */
  readonly again: (error: unknown) => Promise<Parts | undefined>
  readonly onUsage: (usage: unknown) => void
}

/** Parts that say nothing of the answer yet. */
const before: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw', 'ping'])

export function recoveringStream(stream: Parts, { again, onUsage }: Recovering): Parts {
  let reader = stream.getReader()
  let mayRecover = true
  const next = async (): Promise<Read> => {
    const read: Read = await reader.read()
    const part = read.value
    if (part?.type === 'finish') onUsage(part.usage)
    if (!mayRecover || part === undefined || before.has(part.type)) return read
    mayRecover = false
    const second = part.type === 'error' ? await again(part.error) : undefined
    if (!second) return read
    await reader.cancel()
    reader = second.getReader()
    return next()
  }
  return new ReadableStream<LanguageModelV4StreamPart>({
    pull: async (controller) => {
      const { done, value } = await next()
      if (value !== undefined) controller.enqueue(value)
      if (done) controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
