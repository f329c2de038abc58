// A stand-in for what pi gives an extension, for tests of single parts: a branch in memory and a model that says what it
// is told to. The tests with the real pi hold that pi behaves so.
import type { JsonObject } from 'everlong/internal'
import type { AssistantMessage, CallOptions, Context, Model, ProviderContext, SessionEntry, Usage } from '../pi-api.ts'

export const model: Model = {
  id: 'claude-sonnet-4-5',
  provider: 'anthropic',
  contextWindow: 200_000,
  maxTokens: 64_000,
  cost: { input: 3, cacheRead: 0.3 },
}

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.01 }
export const usage: Usage = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 30, cost }

export type Call = { readonly context: ProviderContext; readonly options: CallOptions }

export type Asked = {
  readonly context: Context
  readonly calls: readonly Call[]
  readonly notes: readonly string[]
}

export type ContextInput = {
  readonly branch: readonly SessionEntry[]
  readonly answer?: string | Partial<AssistantMessage>
  readonly tokens?: number
}

export function testContext({ branch, answer = '', tokens = 1_000 }: ContextInput): Asked {
  const calls: Call[] = []
  const notes: string[] = []
  const said = typeof answer === 'string' ? { content: [{ type: 'text', text: answer }] } : answer
  const message: AssistantMessage = { content: [], model: model.id, usage, stopReason: 'stop', ...said }
  const context: Context = {
    hasUI: true,
    cwd: '/w',
    model,
    modelRegistry: {
      streamSimple: (_, asked, options) => {
        calls.push({ context: asked, options })
        return { result: async () => message }
      },
    },
    ui: { notify: (text) => notes.push(text), setStatus: () => undefined, confirm: async () => true },
    sessionManager: {
      getSessionId: () => 's',
      getSessionFile: () => undefined,
      getSessionDir: () => '/nowhere',
      getHeader: () => ({ type: 'session', version: 3, id: 's', cwd: '/w' }),
      getBranch: () => branch,
    },
    getContextUsage: () => ({ tokens, contextWindow: model.contextWindow }),
  }
  return { context, calls, notes }
}

/** Entries one behind the other. */
export function branchOf(...entries: readonly JsonObject[]): readonly SessionEntry[] {
  const time = new Date(Date.now() - 60_000).toISOString()
  return entries.map((entry, at) => ({
    ...{ type: 'message', id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}`, timestamp: time },
    ...entry,
  }))
}

export const user = (text: string): JsonObject => ({ message: { role: 'user', content: [{ type: 'text', text }] } })

export const assistant = (text: string, totalTokens = 1_000): JsonObject => ({
  message: {
    ...{ role: 'assistant', content: [{ type: 'text', text }], model: model.id, stopReason: 'stop' },
    usage: { ...usage, cacheRead: totalTokens - 30, totalTokens },
  },
})

/** An answer that reads a file, and what it read. */
export const read = (path: string, text: string): readonly JsonObject[] => {
  const id = `call-${path}`
  const call = { type: 'toolCall', id, name: 'read', arguments: { path } }
  return [
    { message: { role: 'assistant', content: [call], model: model.id, stopReason: 'toolUse', usage } },
    { message: { role: 'toolResult', toolCallId: id, toolName: 'read', content: [{ type: 'text', text }] } },
  ]
}
