// The shape of each content block: its fields and their types. Relations between blocks are checked elsewhere.
import type { Block } from 'everlong'
import { isObject, type JsonObject } from 'everlong/internal'
import { z } from 'zod'
import { invalid, type Problem } from '../http/problem.ts'
import type { Extensions, InputRole } from './request.ts'
import { check, wrongTag } from './wording.ts'

export const cacheControl = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullish()

export const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/)
const id = z.string().regex(/^[a-zA-Z0-9_-]+$/)

const text = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: cacheControl,
  citations: z.unknown().optional(),
})
const image = z.strictObject({
  type: z.literal('image'),
  source: z.looseObject({ type: z.string() }),
  cache_control: cacheControl,
  transformations: z.unknown().optional(),
})
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id,
  name: toolName,
  input: z.record(z.string(), z.unknown()),
  cache_control: cacheControl,
  caller: z.unknown().optional(),
})
const toolResult = {
  type: z.literal('tool_result'),
  tool_use_id: id,
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
  cache_control: cacheControl,
}
const cacheEdits = z.strictObject({
  type: z.literal('cache_edits'),
  edits: z.array(z.strictObject({ type: z.literal('delete'), cache_reference: z.string().min(1) })).min(1),
})
const toolReference = z.strictObject({
  type: z.literal('tool_reference'),
  tool_name: z.string().min(1),
  cache_control: cacheControl,
})
const loose = z.looseObject({ type: z.string(), cache_control: cacheControl })

const serverId = z.string().regex(/^srvtoolu_[a-zA-Z0-9_]+$/)
const call = { name: z.string().min(1), input: z.record(z.string(), z.unknown()), cache_control: cacheControl }
const serverResult = z.looseObject({ type: z.string(), tool_use_id: serverId, cache_control: cacheControl })

const documentSources: Readonly<Record<string, z.ZodType>> = {
  base64: z.strictObject({
    type: z.literal('base64'),
    media_type: z.literal('application/pdf'),
    data: z.string().min(1),
  }),
  text: z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string().min(1) }),
  content: z.strictObject({ type: z.literal('content'), content: z.union([z.string(), z.array(z.unknown())]) }),
  url: z.strictObject({ type: z.literal('url'), url: z.string().min(1) }),
  file: z.strictObject({ type: z.literal('file'), file_id: z.string().min(1) }),
}

const schemas: Readonly<Record<string, z.ZodType>> = {
  text,
  image,
  document: z.strictObject({
    type: z.literal('document'),
    source: z.looseObject({ type: z.string() }),
    title: z.string().nullish(),
    context: z.string().nullish(),
    citations: z.strictObject({ enabled: z.boolean().optional() }).nullish(),
    cache_control: cacheControl,
  }),
  tool_use: toolUse,
  tool_result: z.strictObject(toolResult),
  thinking: z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  redacted_thinking: z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  compaction: z.strictObject({
    type: z.literal('compaction'),
    content: z.string().min(1).nullish(),
    encrypted_content: z.string().nullish(),
    signature: z.string().nullish(),
    tool_changes: z.array(z.unknown()).nullish(),
    cache_control: cacheControl,
  }),
  search_result: z.strictObject({
    type: z.literal('search_result'),
    source: z.string(),
    title: z.string(),
    content: z.array(text).min(1),
    citations: z.unknown().optional(),
    cache_control: cacheControl,
  }),
  container_upload: z.strictObject({
    type: z.literal('container_upload'),
    file_id: z.string().min(1),
    cache_control: cacheControl,
  }),
  server_tool_use: z.looseObject({ type: z.literal('server_tool_use'), id: serverId, ...call }),
  web_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  mcp_tool_use: z.looseObject({ type: z.literal('mcp_tool_use'), id, server_name: z.string(), ...call }),
  mcp_tool_result: z.looseObject({ type: z.literal('mcp_tool_result'), tool_use_id: id, cache_control: cacheControl }),
  advisor_tool_result: serverResult,
  tool_addition: loose,
  tool_removal: loose,
  fallback: loose,
}

const withReference = z.strictObject({ ...toolResult, cache_reference: z.string().min(1).optional() })
const inResults = ['text', 'image', 'search_result', 'document', 'tool_reference']

export function checkBlock(value: unknown, path: string, extensions: Extensions): Problem | undefined {
  if (!isObject(value)) return invalid(`${path}: Input should be an object`)
  if (value.type === undefined) return invalid(`${path}.type: Field required`)
  const schema = schemaFor(value.type, extensions)
  if (schema === undefined) return unknownTag(path, value.type)
  const place = `${path}.${String(value.type)}`
  const problem = check(schema, value, place)
  if (problem) return problem
  if (value.type === 'document') return checkDocument(value, place)
  return value.type === 'tool_result'
    ? (checkResultContent(value.content, place) ?? checkError(value, place))
    : undefined
}

function checkError({ content, is_error: error }: JsonObject, path: string): Problem | undefined {
  if (error !== true || !Array.isArray(content)) return undefined
  if (content.every((block) => isObject(block) && block.type === 'text')) return undefined
  return invalid(`${path}: all content must be type "text" if "is_error" is true`)
}

function checkDocument({ source }: JsonObject, path: string): Problem | undefined {
  const { type = '', data } = isObject(source) ? source : {}
  const schema = documentSources[String(type)]
  if (schema === undefined) return wrongTag(`${path}.source`, type, Object.keys(documentSources))
  const problem = check(schema, source, `${path}.source.${String(type)}`)
  if (problem || type !== 'base64') return problem
  const isPdf = Buffer.from(String(data).slice(0, 40), 'base64').toString('latin1').startsWith('%PDF-')
  return isPdf ? undefined : invalid(`${path}.source.base64.data: The PDF specified was not valid.`)
}

/** A block whose beta is missing is unknown to the API. */
export function unknownTag(path: string, type: unknown): Problem {
  return wrongTag(
    path,
    type,
    Object.keys(schemas).filter((name) => name !== 'tool_addition' && name !== 'tool_removal'),
  )
}

function schemaFor(type: unknown, extensions: Extensions): z.ZodType | undefined {
  if (extensions.cacheEdits && type === 'cache_edits') return cacheEdits
  if (extensions.cacheEdits && type === 'tool_result') return withReference
  return typeof type === 'string' && Object.hasOwn(schemas, type) ? schemas[type] : undefined
}

function checkResultContent(content: unknown, path: string): Problem | undefined {
  if (content === undefined || content === null || typeof content === 'string') return undefined
  if (!Array.isArray(content)) return invalid(`${path}.content: Input should be a valid list`)
  for (const [at, block] of content.entries()) {
    const place = `${path}.content.${at}`
    if (!isObject(block)) return invalid(`${place}: Input should be an object`)
    if (typeof block.type !== 'string' || !inResults.includes(block.type)) return wrongTag(place, block.type, inResults)
    const schema = schemas[block.type] ?? toolReference
    const inner = `${place}.${block.type}`
    const problem = check(schema, block, inner) ?? (block.type === 'document' ? checkDocument(block, inner) : undefined)
    if (problem) return problem
  }
  return undefined
}

const onlyFrom: Readonly<Record<string, InputRole>> = {
  tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  tool_result: 'user',
  image: 'user',
  document: 'user',
  cache_edits: 'user',
  tool_addition: 'system',
  tool_removal: 'system',
}

type Placement = {
  readonly role: InputRole
  /** Path of the message, and of the block in it. */
  readonly path: string
  readonly place: string
  readonly isCurrent: boolean
}

/** A block in a message whose role cannot have written it. */
export function misplacedBlock(block: Block, { role, path, place, isCurrent }: Placement): Problem | undefined {
  const isServers = /._tool_(?:use|result)$/.test(block.type)
  const from = isServers ? 'assistant' : onlyFrom[block.type]
  const isCited = block.type === 'text' && Array.isArray(block.citations) && block.citations.length > 0
  if (isCurrent && role === 'user' && isCited) {
    return invalid(`${place}.text.citations: citations are not permitted in \`user\` messages`)
  }
  if (from === undefined || from === role || (block.type === 'document' && !isCurrent)) return undefined
  return invalid(`${path}: \`${block.type}\` blocks can only be in \`${from}\` messages`)
}
