// The converter of the AI SDK: prompts of a language model and model messages, by one set of functions.
import { isObject, type JsonObject } from '../../core/message/json.ts'
import type { Converter } from '../history/converter.ts'
import { type AiMessage, anthropicOptions, type FileShape } from './shapes.ts'
import { toMessages } from './to-blocks.ts'
import { fromMessage } from './to-parts.ts'

export function aiSdkConverter(files: FileShape): Converter<AiMessage> {
  return {
    toMessages,
    fromMessage: (message, originOf) => fromMessage(message, { originOf, files }),
    withMark: (message, mark) => (isObject(mark) ? marked(message, mark) : message),
  }
}

/** Anthropic's provider takes it from the message; other providers do not look there. */
function marked(message: AiMessage, mark: JsonObject): AiMessage {
  const anthropic = { ...anthropicOptions(message), cacheControl: mark }
  return { ...message, providerOptions: { ...message.providerOptions, anthropic } }
}
