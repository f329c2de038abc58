// Calls of unknown tools: an input that fits the schema, and the same for the same tool.
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from 'everlong/internal'
import type { ToolDefinition } from '../script/script.ts'

export function inputFor({ input_schema: schema }: ToolDefinition): JsonObject {
  const input = valueFor(schema, 0)
  return isObject(input) ? input : {}
}

const maxDepth = 8

/** The first value in the schema: a constant, a default, one of a list, the first alternative; otherwise a value of its type. */
function valueFor(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > maxDepth) return {}
  const [listed] = arrayAt(schema, 'enum')
  const given = [schema.const, schema.default, listed].find((value) => value !== undefined)
  if (given !== undefined) return given
  const [alternative] = [...arrayAt(schema, 'anyOf'), ...arrayAt(schema, 'oneOf'), ...arrayAt(schema, 'allOf')]
  if (alternative !== undefined) return valueFor(alternative, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'string') return textFor(schema)
  if (type === 'number' || type === 'integer') return numberAt(schema, 'minimum') ?? numberAt(schema, 'maximum') ?? 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'array') {
    return Array.from({ length: numberAt(schema, 'minItems') ?? 1 }, () => valueFor(schema.items, depth + 1))
  }
  const properties = objectAt(schema, 'properties') ?? {}
  const required = arrayAt(schema, 'required').map(String)
  return Object.fromEntries(required.map((key) => [key, valueFor(properties[key], depth + 1)]))
}

function textFor(schema: JsonObject): string {
  const word = 'example'
  const least = numberAt(schema, 'minLength') ?? 0
  return (stringAt(schema, 'example') ?? word.padEnd(least, 'x')).slice(0, numberAt(schema, 'maxLength') ?? undefined)
}
