// The numbers of a session without its text, for people who may see what agents cost but not their work.

/** Fields with text of a conversation, or names of people's files and folders. */
const content = new Set([
  'text',
  'title',
  'project',
  'path',
  'paths',
  'about',
  'cause',
  'snippet',
  'name',
  'comment',
  'trouble',
  'restored',
  'messages',
  'summary',
  'doubts',
])

/** The same value with all such texts and lists of texts empty. Numbers, kinds, times and names of models stay. */
export function withoutContent<T>(value: T): T
export function withoutContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutContent(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, content.has(key) ? emptied(item) : withoutContent(item)]),
  )
}

function emptied(value: unknown): unknown {
  if (typeof value === 'string') return ''
  return Array.isArray(value) ? [] : value
}
