// everlong/internal/wire: as everlong/internal, unstable. The APIs as they are on the wire: their messages as ours, their streams
// as answers.

export { messageConversion } from './adapters/anthropic/messages.ts'
export type { Converted } from './adapters/history/converter.ts'
export { readUsage, type Usage } from './core/message/usage.ts'
export { MessageAccumulator } from './models/anthropic/accumulate.ts'
