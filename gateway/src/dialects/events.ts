// The body of an answer as events: those of a stream, or the one object of a plain answer.
import { createParser } from 'eventsource-parser'

export function eventsOf(bytes: Buffer, contentType: string | undefined): readonly unknown[] {
  const text = bytes.toString('utf8')
  if (!/^text\/event-stream\b/i.test(contentType ?? '')) return parsed(text)
  const events: unknown[] = []
  const parser = createParser({ onEvent: ({ data }) => events.push(...parsed(data)) })
  parser.feed(text)
  return events
}

/** Empty if it is not JSON, like the `[DONE]` at the end of a chat completion. */
function parsed(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}
