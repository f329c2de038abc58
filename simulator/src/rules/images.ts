// Images and documents: types, sizes, dimensions, number. Their content does not matter.
import type { Block } from 'everlong'
import { isObject, mediaLimit } from 'everlong/internal'
import { z } from 'zod'
import { invalid, type Problem } from '../http/problem.ts'
import { imageSize, sniff } from '../prompt/image.ts'
import { oncePer } from '../request/once.ts'
import { type MessagesRequest, placedIn } from '../request/request.ts'
import { check, wrongTag } from '../request/wording.ts'

const maxBytes = 5 * 1024 * 1024
const maxSide = 8_000
const maxSideOfMany = 2_000
const many = 20

type Medium = { readonly type: 'image' | 'document'; readonly source: unknown; readonly path: string }

const sources: Readonly<Record<string, z.ZodType>> = {
  base64: z.strictObject({
    type: z.literal('base64'),
    media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    data: z.string().min(1),
  }),
  url: z.strictObject({ type: z.literal('url'), url: z.string().min(1) }),
  file: z.strictObject({ type: z.literal('file'), file_id: z.string().min(1) }),
}

export function countsMedia(request: MessagesRequest): Problem | undefined {
  const most = mediaLimit(request.facts)
  const images = mediaOf(request, 'image').length
  const pages = mediaOf(request, 'document').reduce((sum, { source }) => sum + pagesOf(source), 0)
  if (images + pages <= most) return undefined
  return invalid(`Too much media: ${pages} document pages + ${images} images > ${most}`)
}

/** The page objects of an embedded PDF, at least one. Text has none, and remote files are not fetched. */
function pagesOf(source: unknown): number {
  if (!isObject(source) || source.type !== 'base64') return 0
  const text = Buffer.from(String(source.data), 'base64').toString('latin1')
  return Math.max(1, text.match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0)
}

export function takesImages(request: MessagesRequest): Problem | undefined {
  const images = mediaOf(request, 'image')
  for (const image of images) {
    const problem = checkImage(image, images.length)
    if (problem) return problem
  }
  return undefined
}

function checkImage(image: Medium, count: number): Problem | undefined {
  const source = isObject(image.source) ? image.source : {}
  const type = String(source.type)
  const schema = sources[type]
  const path = `${image.path}.image.source`
  if (schema === undefined) return wrongTag(path, source.type, Object.keys(sources))
  const problem = check(schema, source, `${path}.${type}`)
  if (problem || type !== 'base64') return problem
  const data = String(source.data)
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4)
  if (bytes > maxBytes) {
    return invalid(`${path}.base64: image exceeds 5 MB maximum: ${bytes} bytes > ${maxBytes} bytes`)
  }
  const kind = sniff(data)
  if (kind === undefined) return invalid('Could not process image')
  if (kind !== source.media_type) {
    return invalid(`${path}.base64.data: Image does not match the provided media type ${String(source.media_type)}`)
  }
  return checkSides(data, path, count)
}

function checkSides(data: string, path: string, count: number): Problem | undefined {
  const size = imageSize(data)
  const side = Math.max(size?.width ?? 0, size?.height ?? 0)
  const rule = `${path}.base64.data: At least one of the image dimensions exceed max allowed size`
  if (side > maxSide) return invalid(`${rule}: ${maxSide} pixels`)
  if (count > many && side > maxSideOfMany) {
    return invalid(`${rule} for many-image requests: ${maxSideOfMany} pixels`)
  }
  return undefined
}

function mediaOf(request: MessagesRequest, type: 'image' | 'document'): readonly Medium[] {
  return allMedia(request).filter((medium) => medium.type === type)
}

const allMedia = oncePer((request: MessagesRequest): readonly Medium[] => {
  const found: Medium[] = []
  const look = ({ type, source }: Block, path: string) => {
    if (type === 'image' || type === 'document') found.push({ type, source, path })
  }
  for (const { block, path } of placedIn(request.messages)) {
    look(block, path)
    for (const [at, part] of inResult(block).entries()) look(part, `${path}.tool_result.content.${at}`)
  }
  return found
})

function inResult(block: Block): readonly Block[] {
  return block.type === 'tool_result' && Array.isArray(block.content) ? block.content : []
}
