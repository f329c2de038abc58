// Tools of the Responses API and the names by which scripts know them. A namespace holds functions of its own; a script
// sees `namespace__function`, or what Codex makes of it where the namespace already ends in the separator.
import { isObject, type JsonObject, stringAt } from 'everlong/internal'

/** How a tool is called: as a function with JSON, or as a custom tool with plain text. */
export type Callable = { readonly type: 'function' | 'custom'; readonly name: string; readonly namespace?: string }

type Listed = { readonly tool: JsonObject; readonly callable: Callable }

export function toolNameOf({ name, namespace, type }: JsonObject): string {
  const own = typeof name === 'string' ? name : String(type).replace(/_call$/, '')
  if (typeof namespace !== 'string' || namespace === '') return own
  return namespace.endsWith('__') ? `${namespace}${own}` : `${namespace}__${own}`
}

function listed(tools: unknown, namespace?: string): readonly Listed[] {
  if (!Array.isArray(tools)) return []
  return tools.filter(isObject).flatMap((tool): readonly Listed[] => {
    const name = stringAt(tool, 'name') ?? String(tool.type)
    if (tool.type === 'namespace') return listed(tool.tools, name)
    const type = tool.type === 'custom' ? 'custom' : 'function'
    return [{ tool, callable: { type, name, ...(namespace === undefined ? {} : { namespace }) } }]
  })
}

/** Converts to the form of the Messages API. */
export function toolsOf(tools: unknown): readonly JsonObject[] {
  return listed(tools).map(({ tool, callable }) => ({
    name: toolNameOf(callable),
    ...(typeof tool.description === 'string' ? { description: tool.description } : {}),
    input_schema: tool.parameters ?? { type: 'object' },
  }))
}

export function callablesOf(tools: unknown): ReadonlyMap<string, Callable> {
  return new Map(listed(tools).map(({ callable }) => [toolNameOf(callable), callable]))
}
